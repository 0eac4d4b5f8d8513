// SPDX-License-Identifier: Apache-2.0

package sweep

// AtMost lowers the number of nodes that a sweep takes in.
func (o Options) AtMost(nodes int) Options {
	o.maxNodes = nodes
	return o
}
