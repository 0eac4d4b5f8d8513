// SPDX-License-Identifier: Apache-2.0

// Package sssp is routing by single-source shortest paths: destinations are routed one after the other, and
// what one of them puts on a cable makes that cable longer for the next. It gives the tables that OpenSM
// computes, to the byte (osm_ucast_dfsssp.c of OpenSM 3.3.23). The engine dfsssp also gives the paths SLs by
// which their VLs cannot deadlock (Domke, Hoefler and Nagel, "Deadlock-Free Oblivious Routing for Arbitrary
// Topologies", IPDPS 2011).
package sssp
