// SPDX-License-Identifier: Apache-2.0

package sweep

// AtMost lowers the maximum number of nodes of a sweep.
func (o Options) AtMost(nodes int) Options {
	o.maxNodes = nodes
	return o
}

// EntriesAtMost lowers the maximum number of entries in forwarding tables.
func (o Options) EntriesAtMost(n int) Options {
	o.maxEntries = n
	return o
}
