// SPDX-License-Identifier: Apache-2.0

// Package fabric holds an InfiniBand subnet as data: nodes, ports, links, LIDs
// and forwarding tables.
//
// A [Fabric] is a value: it never changes after a [Builder] made it, so any
// number of readers share it without locks. Nodes, ports and switches have
// dense indexes; GUIDs and names are looked up at the edges only. A failure on
// paper ([Fabric.Without]) yields another Fabric with the same indexes, so that
// tables of both can be compared row by row.
package fabric
