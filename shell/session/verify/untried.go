// SPDX-License-Identifier: Apache-2.0

package verify

// Untried lists features that were never tested on hardware, but only with ibsim, Soft-RoCE on a real kernel, and
// simulated subnets. docs/hardware.md has the same list.
func Untried() []string {
	return []string{
		"A sweep of real switches. The tests sweep switches of ibsim and of the program itself.",
		"Writing forwarding tables, multicast tables, LIDs and SL2VL tables to switches.",
		"A commit next to a subnet manager that manages hardware. In the tests, OpenSM manages ibsim.",
		"Queue pair 0 of an adapter. Soft-RoCE has no queue pair 0, and ibsim bypasses the kernel.",
		"An adapter that is reset or removed while the program reads it.",
		"An M_Key that real switches enforce, and its lease period.",
		"A subnet manager other than OpenSM 3.3.23: a vendor's OpenSM, UFM, an SM inside a switch.",
		"64-bit counters, and ports that support only some 64-bit counters.",
		"The vendor attributes of NVIDIA from which `sweep full adaptive` reads adaptive-routing settings.",
		"Private forwarding tables, SHARP, routers and virtual ports.",
		"Links faster than HDR. ibsim has no such links.",
		"Timeouts and the number of packets in flight with busy management processors.",
	}
}
