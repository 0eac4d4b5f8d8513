// SPDX-License-Identifier: Apache-2.0

// Package resilience asks of every single failure what becomes of a routing: each link between switches, each
// switch, each pair of links fails on paper, the tables are adapted as package incremental does it, and the
// paths of all pairs of end ports that this changes are followed. What is cut off and what is overloaded is
// counted, and the worst failures are kept.
//
// A study is a row of numbered failures. It can be split into shards, of which
// each takes every Nth, stopped after any of them and continued.
package resilience
