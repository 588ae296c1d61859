"""Papers that can be reproduced, a folder each; `bentpipe_papers.reproduction.papers` says how to add one."""
