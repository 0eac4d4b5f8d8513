// SPDX-License-Identifier: Apache-2.0

// Package schemas tests that the answers of all commands fit their declared schemas. It is separate from package shell
// because its tests are slow with the race detector.
package schemas
