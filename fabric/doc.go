// SPDX-License-Identifier: Apache-2.0

// Package fabric represents an InfiniBand subnet as data: nodes, ports, links, LIDs and forwarding tables.
//
// A [Fabric] is a value. It never changes once a [Builder] has made it, so goroutines share it without locks. Nodes,
// ports and switches have dense indexes. The program converts GUIDs and names to indexes when it reads input, and back
// when it prints. A simulated failure ([Fabric.Without]) returns another Fabric with the same indexes, so that tables
// of both can be compared row by row.
//
// Start with the example, then read [Fabric], [Node], [Port] and [Tables]. Subnets come from files (package formats and
// one package for each format), from switches (package sweep), or from a generator (package gen). Packages sweep,
// counters, livetrace and apply send MADs. Package apply writes the items that package write lists. Package sim answers
// MADs without hardware.
package fabric
