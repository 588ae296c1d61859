"""What `bentpipe advise` says: settings of a Linux server behind a satellite link, and what each brings."""
