"""What kernels carry over a path with a bottleneck, in real time and in simulated time."""

PATH = """
title = "a path"
[links.satellite]
from = "server"
to = "terminal"
rate = "6 Mbit/s"
delay = "60 ms"
queue = "100 packets"
"""
DOWNLOAD = PATH + '[flows.download]\nfrom = "server"\nto = "terminal"\nbytes = "2 MB"\n'
EVERYTHING = (
    DOWNLOAD
    + """
[flows.pages]
from = "server"
to = "terminal"
app = "http"
page_interval = "1 s"
pages = 3
connections = 2
[flows.voice]
from = "terminal"
to = "server"
app = "cbr"
rate = "64 kbit/s"
packet = "200 B"
duration = "3 s"
[flows.video]
from = "server"
to = "terminal"
app = "multimedia"
duration = "2 s"
"""
)
