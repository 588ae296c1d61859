"""What helps somebody who begins: a scenario from six answers, what a key means, what this machine has."""
