// SPDX-License-Identifier: Apache-2.0

// Package counterdump reads the counters of ports from the output of perfquery, ibqueryerrors and mlxlink.
package counterdump

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/unread"
)

var (
	// header begins the counters of a port in perfquery's output. value is a counter after it.
	header = regexp.MustCompile(`^# Port(?: extended)? counters: Lid (\d+) port (\d+)`)
	value  = regexp.MustCompile(`^([A-Za-z0-9]+):\.*(\d+)$`)
	// row is a port of ibqueryerrors, bracketed is a counter of the row.
	row       = regexp.MustCompile(`^GUID 0x([0-9a-fA-F]{1,16}) port (\d+|ALL):`)
	bracketed = regexp.MustCompile(`\[([A-Za-z0-9]+) == (\d+)`)
	// ignored matches the other lines of the two programs.
	ignored = regexp.MustCompile(`^(#|Errors for |Data Counters for |Link info:|ibwarn:|(Port|Counter)Select|$)`)
)

// allPorts is the port number of the sums of a switch.
const allPorts = 255

var errLine = errors.New("expected a line of perfquery or ibqueryerrors")

// Read reads counters of the ports of a fabric. The argument at is the time of the counters. If a counter occurs twice,
// the later value counts. Sums over all ports of a switch are ignored. The result is in the order of the ports.
//
// Read skips lines that it cannot read and adds them to found. If found is nil, Read returns the first such line as an
// error. O(file size).
func Read(ctx context.Context, r io.Reader, name string, f *fabric.Fabric, at time.Time,
	found *unread.List) ([]counters.Port, error) {
	p := parser{f: f, at: at, index: map[fabric.PortIndex]int{}, byGUID: map[uint64]fabric.PortIndex{},
		names: map[string]counters.Counter{}, current: fabric.None}
	for i := range f.NumPorts() {
		if port := &f.Ports[i]; !f.Nodes[port.Node].IsSwitch() && port.GUID != 0 && port.Num > 0 {
			p.byGUID[port.GUID] = i
		}
	}
	for c := range counters.NumCounters {
		p.names[c.String()] = c
	}
	report := func(line int, err error) error {
		if err == nil {
			return nil
		}
		finding := unread.At(name, line, "%w", err)
		if found == nil {
			return finding
		}
		found.Add(finding)
		return nil
	}
	// A line takes effect when the next one is read, because a last line without a newline may end in a number.
	last, next := 0, func() error { return nil }
	cut, err := unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		if err := next(); err != nil {
			return err
		}
		text, last = bytes.Clone(text), line
		next = func() error {
			if text == nil { // a line that is too long
				return report(line, errLine)
			}
			return report(line, p.line(bytes.TrimSpace(text)))
		}
		return nil
	})
	switch {
	case err != nil:
	case cut:
		err = report(last, errors.New("truncated: the last line has no newline"))
	default:
		err = next()
	}
	slices.SortFunc(p.ports, func(a, b counters.Port) int { return int(a.Port - b.Port) })
	return p.ports, err
}

type parser struct {
	f      *fabric.Fabric
	at     time.Time
	ports  []counters.Port
	index  map[fabric.PortIndex]int
	byGUID map[uint64]fabric.PortIndex // ports of adapters and routers
	names  map[string]counters.Counter
	// current is the port of perfquery's lines, None if they are ignored. wide is set if its counters have 64 bits.
	current fabric.PortIndex
	wide    bool
}

func (p *parser) line(text []byte) error {
	switch {
	case header.Match(text):
		return p.header(text)
	case row.Match(text):
		return p.row(text)
	case ignored.Match(text):
		if bytes.HasPrefix(text, []byte("# Port")) {
			p.current = fabric.None // other counters than those in the table
		}
		return nil
	}
	m := value.FindSubmatch(text)
	if m == nil {
		return errLine
	}
	if p.current == fabric.None {
		return nil
	}
	return p.set(p.current, m[1], m[2], p.wide)
}

// header finds the port of a header of perfquery.
func (p *parser) header(text []byte) error {
	m := header.FindSubmatch(text)
	p.current, p.wide = fabric.None, bytes.HasPrefix(text, []byte("# Port extended"))
	lid, err := strconv.ParseUint(string(m[1]), 10, 16)
	num, numErr := strconv.ParseUint(string(m[2]), 10, 8)
	if err = errors.Join(err, numErr); err != nil {
		return err
	}
	if num == allPorts {
		return nil
	}
	for _, e := range p.f.EndPorts {
		end := &p.f.Ports[e]
		if end.LID == 0 || lid < uint64(end.LID) || lid >= uint64(end.LID)+1<<end.LMC {
			continue
		}
		if p.current = p.f.PortAt(end.Node, int(num)); p.current == fabric.None {
			break
		}
		return nil
	}
	return errors.New("LID " + string(m[1]) + " has no port " + string(m[2]) + ", expected a port of the subnet")
}

// row reads a port of ibqueryerrors. The GUID is that of the node or of the port.
func (p *parser) row(text []byte) error {
	m := row.FindSubmatch(text)
	num, err := strconv.ParseUint(string(m[2]), 10, 8)
	if err != nil {
		return nil // the sums of a switch
	}
	guid, _ := strconv.ParseUint(string(m[1]), 16, 64)
	at := fabric.PortIndex(fabric.None)
	if node := p.f.NodeByGUID(guid); node != fabric.None {
		at = p.f.PortAt(node, int(num))
	} else if port, ok := p.byGUID[guid]; ok && uint64(p.f.Ports[port].Num) == num {
		at = port
	}
	if at == fabric.None {
		return errors.New("GUID 0x" + string(m[1]) + " has no port " + string(m[2]) + ", expected a port of the subnet")
	}
	for _, c := range bracketed.FindAllSubmatch(text, -1) {
		if err := p.set(at, c[1], c[2], false); err != nil {
			return err
		}
	}
	return nil
}

// set sets a counter of a port. Counters that are not in the table are ignored.
func (p *parser) set(at fabric.PortIndex, name, digits []byte, wide bool) error {
	c, ok := p.names[string(name)]
	if !ok {
		return nil
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return err
	}
	i, ok := p.index[at]
	if !ok {
		i = len(p.ports)
		p.index[at] = i
		p.ports = append(p.ports, counters.Port{Port: at, At: p.at})
	}
	port, greatest := &p.ports[i], counters.Greatest()
	if !wide && port.Wide.Has(c) {
		return nil // the counter of 32 bits is less
	}
	port.Values[c], port.Has = n, port.Has|counters.Of(c)
	if wide = wide || n > greatest[c]; wide {
		port.Wide |= counters.Of(c)
	}
	port.Stopped &^= counters.Of(c)
	if n == math.MaxUint64 || !wide && n == greatest[c] {
		port.Stopped |= counters.Of(c)
	}
	return nil
}
