// SPDX-License-Identifier: Apache-2.0

// Package fabric represents an InfiniBand subnet as data: nodes, ports, links, LIDs and forwarding tables.
//
// A [Fabric] is a value. It never changes once a [Builder] has made it, so readers share it without locks. Nodes, ports
// and switches have dense indexes. GUIDs and names are looked up only at the edges of the program. A simulated failure
// ([Fabric.Without]) returns another Fabric with the same indexes, so that tables of both can be compared row by row.
//
// Start with the example, then read [Fabric], [Node], [Port] and [Tables]. Subnets come from files (package formats and
// a package for each format), from switches (package sweep), or from a generator (package gen). Packages sweep,
// counters, livetrace and apply send MADs; apply writes what package write lists. Package sim answers MADs without
// hardware.
package fabric
