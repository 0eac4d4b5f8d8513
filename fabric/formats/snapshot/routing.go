// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"

	"example.org/ibconsole/fabric"
)

// Routing says how the tables of a snapshot were made, so that another subnet can
// be held against the one that they were made for.
type Routing struct {
	// Engine and Options are as in opensm.conf: "updn", "lmc=1 connect_roots=TRUE".
	Engine string
	// Chain are the engines that were tried in order, of which Engine is one, as in opensm.conf with "no_fallback".
	// It is nil in files of older versions.
	Chain   []string
	Options []Option
	// Roots are the switches that the engine took for roots, nil for none.
	Roots []fabric.SwitchIndex
	// MinHop are the min-hop tables, nil where there are none.
	MinHop *MinHop
}

// Option is an option of an engine.
type Option struct{ Name, Value string }

// MinHop are min-hop tables. Of switch s of n, number s*n+d is about switch d.
type MinHop struct {
	// Least is the least number of hops, 255 for no path.
	Least []uint8
	// Ports are the ports that lead there by as many, Words words each; port p is bit p&63 of word p>>6.
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
		d.fail(fmt.Errorf("%d bytes too many", n))
	}
	if d.err != nil {
		return nil, fmt.Errorf("routing: %w", d.err)
	}
	return r, nil
}

// encodeChain returns a section of its own, so that older versions read the rest.
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

// maxOptions is how many options a routing may have.
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
