// SPDX-License-Identifier: Apache-2.0

// Package routing computes forwarding tables out of a fabric, follows paths
// through them, and compares them.
//
// An engine is a function: fabric and options in, tables and figures out. It
// logs nothing and reads no file. Each engine is a package of its own below
// this one; package routing/engines lists them.
package routing
