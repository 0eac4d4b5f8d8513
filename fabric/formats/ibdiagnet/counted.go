// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"strings"

	"example.org/ibconsole/fabric/counters"
)

// counterColumns returns the columns of PM_INFO: node, port, and of each counter the one of its name and the wide one.
func counterColumns() []string {
	columns := []string{"nodeguid", "portnumber|portnum"}
	for c := range counters.NumCounters {
		name := strings.ToLower(c.String())
		columns = append(columns, name, name+"ext|"+name+"extended")
	}
	return columns
}

// count is what a port had counted.
type count struct {
	node uint64
	port uint8
	counters.Port
	line int
}

func (p *parser) counted(v *values) error { return p.count(v, &p.counts) }

func (p *parser) grown(v *values) error { return p.count(v, &p.deltas) }

func (p *parser) count(v *values, to *[]count) error {
	var at [2]uint64
	if err := v.numbers(at[:], 0, 64, 1, 8); err != nil {
		return p.refuse("%w", err)
	}
	c := count{node: at[0], port: uint8(at[1]), line: p.line}
	for k := range counters.NumCounters {
		narrow, wide := 2+2*int(k), 3+2*int(k)
		for _, column := range [2]int{wide, narrow} {
			if !v.has(column) {
				continue
			}
			n, err := v.number(column, 64)
			if err != nil {
				return p.refuse("%w", err)
			}
			c.Values[k], c.Has = n, c.Has|counters.Of(k)
			if column == wide {
				c.Wide |= counters.Of(k)
			} else if n == p.greatest[k] && n != 0 {
				c.Stopped |= counters.Of(k)
			}
			break
		}
	}
	*to = append(*to, c)
	return nil
}
