// SPDX-License-Identifier: Apache-2.0

package verify

// Untried lists features that were never tested on hardware, but only with ibsim, Soft-RoCE on a real kernel, and
// simulated subnets. docs/hardware.md has the same list.
func Untried() []string {
	return []string{
		"A sweep of switches. The tested ones are those of ibsim and of the program itself.",
		"Writing forwarding tables, multicast tables, LIDs and SL2VL tables to switches.",
		"A commit next to a subnet manager that manages hardware. OpenSM ran over ibsim.",
		"Queue pair 0 of an adapter. Soft-RoCE has none, and ibsim bypasses the kernel.",
		"An adapter that is reset or removed while it is read.",
		"An M_Key that switches keep, and its lease period.",
		"A subnet manager other than OpenSM 3.3.23: a vendor's OpenSM, UFM, one inside a switch.",
		"64-bit counters, and ports that support only some of them.",
		"NVIDIA's own attributes, with which `sweep full adaptive` reads adaptive routing.",
		"Private forwarding tables, SHARP, routers and virtual ports.",
		"Links faster than HDR. ibsim has none.",
		"Timeouts and packets in flight of busy management processors.",
	}
}
