"""The papers that can be reproduced, a module each: `bentpipe.reproduction.papers` says how to add one."""
