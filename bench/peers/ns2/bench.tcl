# The four benchmark scenarios in ns-2: ns bench.tcl SCENARIO [bytes or simulated seconds]
# Prints one JSON line. Segments are 1460 bytes of payload and 40 of headers; windows are in packets.

if {$argc < 1} {
    puts stderr "usage: ns bench.tcl geo|geo-fast|dumbbell-N \[bytes for geo, simulated seconds for the others\]"
    exit 2
}
set scenario [lindex $argv 0]
set length [lindex $argv 1]

# Headers of protocols that are not used cost memory and time in every packet.
remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]

Agent/TCP set packetSize_ 1460
Agent/TCP set windowInit_ 2
Agent/TCP set overhead_ 0
Queue set limit_ 1000000

# One SACK flow that opens at `start`; `window` in packets.
proc flow {from to window start} {
    global ns agents
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    $tcp set window_ $window
    $tcp set maxcwnd_ 0
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    lappend agents $tcp
    return $ftp
}

# Both directions may differ, which duplex-link does not offer.
proc link {from to rate back_rate delay} {
    global ns
    $ns simplex-link $from $to $rate $delay DropTail
    $ns simplex-link $to $from $back_rate $delay DropTail
}

# `node` hands what is for `to` (a node, or default) to its neighbour `next`.
proc route {node to next} {
    set routes [$node get-module Manual]
    if {$to eq "default"} {
        $routes add-route-to-adj-node -default $next
    } else {
        $routes add-route-to-adj-node $next
    }
}

# The most memory that this process has held, in bytes.
proc peak_bytes {} {
    set status [open /proc/self/status]
    regexp {VmHWM:\s+(\d+) kB} [read $status] -> kilobytes
    close $status
    return [expr {$kilobytes * 1024}]
}

proc finish {} {
    global ns agents scenario began
    set data 0
    set resent 0
    set timeouts 0
    set bytes 0
    foreach tcp $agents {
        # Packet 0 is the SYN.
        if {[$tcp set ndatapack_] == 0} { continue }
        incr data [expr {[$tcp set ndatapack_] - 1}]
        incr resent [$tcp set nrexmitpack_]
        incr timeouts [$tcp set nrexmit_]
        incr bytes [expr {max(0, [$tcp set ack_]) * 1460}]
    }
    set wall [expr {([clock clicks -milliseconds] - $began) / 1000.0}]
    puts [format {{"simulator": "ns-2", "scenario": "%s", "data_segments": %d, "bytes_delivered": %d, "finish_s": %.6f, "wall_s": %.3f, "retransmissions": %d, "timeouts": %d, "peak_bytes": %d}} \
        $scenario $data $bytes [$ns now] $wall $resent $timeouts [peak_bytes]]
    exit 0
}

# The transfer's end: ns-2 calls this when its last packet is acknowledged.
Agent/TCP instproc done {} { finish }

set began [clock clicks -milliseconds]
switch -glob $scenario {
    geo {
        if {$length eq ""} { set length 50000000 }
        foreach n {server gateway client} { set $n [$ns node] }
        link $server $gateway 10Mb 10Mb 10ms
        link $gateway $client 2.048Mb 256kb 250ms
        $ns at 0 "[flow $server $client 44 0] send $length"
    }
    geo-fast {
        if {$length eq ""} { set length 600 }
        foreach n {server gateway client} { set $n [$ns node] }
        link $server $gateway 1Gb 1Gb 1ms
        link $gateway $client 100Mb 100Mb 250ms
        set loss [new ErrorModel]
        $loss set rate_ 1e-5
        $loss unit pkt
        $loss ranvar [new RandomVariable/Uniform]
        $loss drop-target [new Agent/Null]
        $ns lossmodel $loss $gateway $client
        $ns at 0 "[flow $server $client 5479 0] start"
        $ns at $length finish
    }
    dumbbell-* {
        if {$length eq ""} { set length 10 }
        set count [string range $scenario 9 end]
        # Computed routes take a minute for 2000 nodes, and half a gigabyte.
        $ns rtproto Manual
        set left [$ns node]
        set right [$ns node]
        link $left $right 1Gb 1Gb 23ms
        $ns queue-limit $left $right 4166
        $ns queue-limit $right $left 4166
        route $left default $right
        route $right default $left
        for {set i 0} {$i < $count} {incr i} {
            set s [$ns node]
            set r [$ns node]
            link $s $left 10Gb 10Gb 1ms
            link $right $r 10Gb 10Gb 1ms
            route $s default $left
            route $r default $right
            route $left $s $s
            route $right $r $r
            $ns at [expr {$i * 0.001}] "[flow $s $r 5479 0] start"
        }
        $ns at $length finish
    }
    default {
        puts stderr "no such scenario: $scenario"
        exit 2
    }
}
$ns run
