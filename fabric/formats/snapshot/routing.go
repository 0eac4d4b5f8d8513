// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"

	"example.org/ibconsole/fabric"
)

// Routing describes how the tables of a snapshot were computed. With this description the same routing can be computed
// for another subnet.
type Routing struct {
	// Engine and Options have the form of opensm.conf, for example "updn" and "lmc=1 connect_roots=TRUE".
	Engine string
	// Chain lists the engines that were tried, in order, including Engine. The names have the form of opensm.conf, and
	// "no_fallback" may be among them. Chain is nil in files of older versions.
	Chain   []string
	Options []Option
	// Roots lists the switches that the engine used as roots. It is nil if there are none.
	Roots []fabric.SwitchIndex
	// MinHop holds the min-hop tables, nil if there are none.
	MinHop *MinHop
}

// Option is an option of an engine.
type Option struct{ Name, Value string }

// MinHop holds min-hop tables. With n switches, the entry for the path from switch s to switch d has index s*n+d.
type MinHop struct {
	// Least is the smallest number of hops of each entry, 255 if there is no path.
	Least []uint8
	// Ports holds, for each entry, the set of ports with the smallest number of hops. A set takes Words words. Port p
	// is bit p&63 of word p>>6.
	Ports []uint64
	Words int
}

func encodeRouting(r *Routing) []byte {
	e := &encoder{}
	e.string(r.Engine)
	e.uint(uint64(len(r.Options)))
	for _, o := range r.Options {
		e.string(o.Name)
		e.string(o.Value)
	}
	e.uint(uint64(len(r.Roots)))
	for _, s := range r.Roots {
		encodeIndex(e, s)
	}
	e.bool(r.MinHop != nil)
	if r.MinHop == nil {
		return e.b
	}
	e.uint(uint64(r.MinHop.Words))
	e.bytes(r.MinHop.Least)
	for _, w := range r.MinHop.Ports {
		e.b = binary.LittleEndian.AppendUint64(e.b, w)
	}
	return e.b
}

func decodeRouting(f *fabric.Fabric, d *decoder) (*Routing, error) {
	n := len(f.Switches)
	r := &Routing{Engine: d.string()}
	for range d.uint(maxOptions) {
		if d.err != nil {
			break
		}
		r.Options = append(r.Options, Option{d.string(), d.string()})
	}
	for range d.uint(uint64(n)) {
		s := decodeIndex[fabric.SwitchIndex](d, n)
		if s < 0 {
			d.fail(errShort)
		}
		r.Roots = append(r.Roots, s)
	}
	if d.bool() {
		r.MinHop = decodeMinHop(n, d)
	}
	if n := d.size(); d.err == nil && n > 0 {
		d.fail(fmt.Errorf("%d unexpected bytes after the end", n))
	}
	if d.err != nil {
		return nil, fmt.Errorf("routing: %w", d.err)
	}
	return r, nil
}

// encodeChain encodes the chain of engines as a separate section. Older versions then can read the other sections.
func encodeChain(chain []string) []byte {
	e := &encoder{}
	e.uint(uint64(len(chain)))
	for _, name := range chain {
		e.string(name)
	}
	return e.b
}

func decodeChain(d *decoder) (chain []string, err error) {
	for range d.uint(maxOptions) {
		if d.err != nil {
			break
		}
		chain = append(chain, d.string())
	}
	if d.err != nil {
		return nil, fmt.Errorf("chain: %w", d.err)
	}
	return chain, nil
}

// maxOptions is the maximum number of options of a routing.
const maxOptions = 1 << 10

func decodeMinHop(n int, d *decoder) *MinHop {
	m := &MinHop{Words: int(d.uint(math.MaxUint8/64 + 1))}
	if d.size() < int64(n)*int64(n)*int64(1+8*m.Words) {
		d.fail(errShort)
		return nil
	}
	m.Least = d.bytes(n * n)
	m.Ports = make([]uint64, n*n*m.Words)
	var word [8]byte
	for i := range m.Ports {
		d.into(word[:])
		m.Ports[i] = binary.LittleEndian.Uint64(word[:])
	}
	return m
}
