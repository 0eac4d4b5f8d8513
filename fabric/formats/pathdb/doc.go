// SPDX-License-Identifier: Apache-2.0

// Package pathdb is a file with the path records between all ports of a subnet,
// any to any, that is mapped into memory and used in place.
//
// What the fabric decides about a path depends on the switch that the source hangs on and on the destination
// LID. So a record is found by a row, which all sources of one switch share, and the LID; what the links of
// both ends add stands with the ports. Rows are cut into cells that hold all LIDs of one destination switch.
// Equal cells are kept once, and most are the same for all LIDs and need no memory of their own.
// docs/pathdb.md describes every byte.
//
// Package routing/paths builds a database from tables; its example asks one. Read first
// [Open], [View.Query] and [Record].
//
// A database answers many goroutines at once, allocates nothing for an answer, and
// can be changed by another process meanwhile: a change is appended, and then one
// word names the new state. An answer comes from one state, the old or the new.
package pathdb
