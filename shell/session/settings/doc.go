// SPDX-License-Identifier: Apache-2.0

// Package settings reads engines and their options, as words or from an opensm.conf and
// the files that it names, into what a routing is computed with.
package settings
