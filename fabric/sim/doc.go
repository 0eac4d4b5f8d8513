// SPDX-License-Identifier: Apache-2.0

// Package sim is a subnet inside the program. It answers subnet management packets byte for byte as switches
// and channel adapters do: a [Conn] is a [mad.Transport] that sits on one of its ports.
//
// Packets walk the subnet as IBA 1.2.1, 14.2.2 says. What a node answers is modelled on ibsim, whose subnet
// is known to satisfy OpenSM and the diagnostics: what the fabric leaves open (capabilities, VLs, MTU) has
// ibsim's values. A packet whose path is cut, or whose node is silent, gets no answer.
//
// Performance management answers with the counters that a port was given, and a port with a master subnet manager
// answers for the subnet administration: with the records of the subnet as it is now, and its tables' paths.
// Tables come in segments, sent again where they are lost. There is no adaptive routing.
//
// A [Sim] can be changed while it runs: nodes and links come and go, packets are lost, delayed and repeated.
package sim
