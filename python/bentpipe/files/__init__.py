"""Files and folders of results on disk."""
