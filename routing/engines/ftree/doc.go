// SPDX-License-Identifier: Apache-2.0

// Package ftree holds OpenSM's fat-tree engine (osm_ucast_ftree.c of OpenSM 3.3.23), which spreads the ways
// down to hosts so that all of them can shift data by any distance at once. It gives the tables that OpenSM
// computes, to the byte.
//
// The switches are ranked from the roots and numbered; leaf by leaf, the way to each host goes up by the
// least used port and from each switch on it down to all others. What one host's way counts decides the next
// one's, so hosts are routed one after the other.
//
// Where a leaf switch has adapters and lower switches on its down-going ports, OpenSM orders the adapters by
// addresses in its memory; here they come in the order of [Engine.InMemory], or stay in that of ports, behind
// switches that have an index and before those without.
package ftree
