//! The rules of the BPF controls as functions of this machine, which the tests hold against the simulator's.

fn main() {
    println!("cargo::rerun-if-changed=../../bpf");
    cc::Build::new().file("../../bpf/host.c").warnings_into_errors(true).compile("bentpipe_bpf_rules");
}
