// SPDX-License-Identifier: Apache-2.0

package sweep

// AtMost lowers the maximum number of nodes of a sweep.
func (o Options) AtMost(nodes int) Options {
	o.maxNodes = nodes
	return o
}

// TablesAtMost lowers the maximum number of bytes and of blocks of the tables of a kind.
func (o Options) TablesAtMost(n int64) Options {
	o.maxTables = n
	return o
}
