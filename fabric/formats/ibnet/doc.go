// SPDX-License-Identifier: Apache-2.0

// Package ibnet reads and writes subnets as ibnetdiscover prints them and as
// ibsim takes them: a record a node, a line a cabled port.
//
// A file is taken at its word, or read by ibsim's rules: see [Reading].
package ibnet
