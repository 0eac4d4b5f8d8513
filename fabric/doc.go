// SPDX-License-Identifier: Apache-2.0

// Package fabric holds an InfiniBand subnet as data: nodes, ports, links, LIDs and forwarding tables.
//
// A [Fabric] is a value: it never changes after a [Builder] made it, so readers share it without locks. Nodes,
// ports and switches have dense indexes; GUIDs and names are looked up at the edges only. A failure on paper
// ([Fabric.Without]) yields another Fabric with the same indexes, so tables of both compare row by row.
//
// Read first the example, then [Fabric], [Node], [Port] and [Tables]. Subnets come from files (formats, and a
// package for each format), from the wire (sweep), or are made up (gen). Over the wire go sweep, counters,
// livetrace and apply, which carries out what package write says; sim answers them without hardware.
package fabric
