// SPDX-License-Identifier: Apache-2.0

// Package paths makes path-record databases (package pathdb) from forwarding
// tables, compares them with the tables, and makes what changes one into another.
package paths
