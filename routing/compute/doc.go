// SPDX-License-Identifier: Apache-2.0

// Package compute makes the tables of a subnet from beginning to end: the ports get their LIDs, the engines
// of a chain are tried, or tables that are there are adapted or laid over the subnet, multicast groups get
// their trees, and what came of it is counted.
//
// A [Job] says all that this depends on. Where the same is wanted without trees and
// counts against other tables, as to measure an engine, there is [Unicast].
package compute
