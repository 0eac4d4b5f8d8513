// SPDX-License-Identifier: Apache-2.0

// Package routing computes forwarding tables out of a fabric, follows paths through them, and compares them.
//
// An engine is a function: fabric and options in, tables and figures out. It logs nothing and reads no file.
//
// Read first the example, then [Engine], [Options] and [Result]. What is below this package stands in three wings:
//
//   - engines: each engine is a package of its own, and package engines lists them
//     and tries one after the other. Begin with minhop, which is the shortest.
//   - checks: what tables are worth. Package walk follows one path, trees all paths to
//     one destination; reach, credits, linkload, balance, uses and mcast judge by them.
//   - changes: from tables to other tables. Package diff compares two, plan says how to
//     write one over the other, incremental, persist and ucastcache keep what still
//     holds, and resilience lets everything fail in turn.
//
// Package paths makes path records of tables, classify guesses what nodes are for.
package routing
