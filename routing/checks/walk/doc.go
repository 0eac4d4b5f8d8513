// SPDX-License-Identifier: Apache-2.0

// Package walk follows packets through forwarding tables: one path hop by hop ([Trace]), many paths without
// garbage ([Follow]), and all paths to one destination at a time ([Tree]).
//
// A switch forwards by the destination LID alone, so a path that meets a switch twice loops for ever, and the
// paths to one destination make a tree with, at most, dead ends and loops beside it.
package walk
