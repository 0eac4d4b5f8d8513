// SPDX-License-Identifier: Apache-2.0

package verify

// Untried lists what nobody has tried on hardware: what is known of it is from ibsim, from Soft-RoCE on a real
// kernel and from the subnets that the program simulates. docs/hardware.md says the same.
func Untried() []string {
	return []string{
		"A sweep of switches: those that were asked are ibsim's and the program's own.",
		"Writing forwarding tables, multicast tables, LIDs and SL2VL tables to switches.",
		"A commit beside a subnet manager in charge of hardware: OpenSM ran over ibsim.",
		"An adapter's queue pair 0: Soft-RoCE has none, and ibsim's stand-in has no kernel.",
		"An adapter that is reset or taken away while it is read.",
		"An M_Key that switches keep, and its lease.",
		"A subnet manager that is not OpenSM 3.3.23: a vendor's OpenSM, UFM, one inside a switch.",
		"Counters beyond 32 bits, and those of ports that do not have all of them.",
		"The attributes of NVIDIA's own by which `sweep full adaptive` asks switches how they route adaptively.",
		"Private forwarding tables, SHARP, routers and virtual ports.",
		"Links faster than HDR: ibsim has none.",
		"Time-outs and the number of packets in flight of management processors that are busy.",
	}
}
