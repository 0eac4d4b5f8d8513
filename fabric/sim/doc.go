// SPDX-License-Identifier: Apache-2.0

// Package sim is a subnet inside the program. It answers subnet management
// packets byte for byte as switches and channel adapters do: a [Conn] is a
// [mad.Transport] that sits on one of its ports.
//
// Packets walk the subnet as IBA 1.2.1, 14.2.2 says. What a node answers is
// modelled on ibsim, whose subnet is known to satisfy OpenSM and the
// diagnostics: what the fabric leaves open (capabilities, VLs, MTU) has ibsim's
// values. A packet whose way is cut, or whose node is silent, gets no answer.
//
// A [Sim] can be changed while it runs: links come and go, packets are lost,
// delayed and repeated.
package sim
