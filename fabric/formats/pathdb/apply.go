// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
)

// ErrState reports that a difference does not belong to the current state of a database.
var ErrState = errors.New("the difference is for another state of the database")

// Apply applies a difference to a database file, which changes the file to a new state. Readers see either the old or
// the new state, and so does a process that opens the file after a crash. Apply checks the new state completely before
// it writes a byte. It locks the file. O(size).
func Apply(ctx context.Context, name string, delta []byte) (err error) {
	if err := files.Regular(ctx, name, files.Paths); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return files.Err(err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			err = fmt.Errorf("change %s: %w", fabric.Escape(name), err)
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("another process is changing the path database: %w", err)
	}
	b, err := files.All(ctx, name, files.Paths)
	if err != nil {
		return err
	}
	v, err := parse(b)
	if err != nil {
		return err
	}
	whole, err := v.changed(delta)
	if err != nil {
		return err
	}
	return commit(f, whole, len(v.data), v.root.State+1)
}

// commit writes the new segment, then its slot, then the number of the current state.
func commit(f *os.File, whole []byte, old int, state uint64) error {
	if _, err := f.WriteAt(whole[old:], int64(old)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	at := slotAt(state)
	if _, err := f.WriteAt(whole[at:at+slotSize], int64(at)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := f.WriteAt(whole[offCurrent:offCurrent+8], offCurrent); err != nil {
		return err
	}
	return f.Sync()
}

// Applied returns the database of the view after a difference, in memory.
func (v *View) Applied(delta []byte) (*DB, error) {
	whole, err := v.changed(delta)
	if err != nil {
		return nil, err
	}
	return Parse(whole)
}

// changed returns a copy of the database with the additional segment for a difference, and checks the segment.
func (v *View) changed(delta []byte) ([]byte, error) {
	whole, root, err := v.extended(delta)
	if err != nil {
		return nil, err
	}
	point(whole, slot{v.root.State + 1, root, uint64(len(whole))})
	if _, err := parse(whole); err != nil {
		return nil, fmt.Errorf("the difference would damage the database: %w", err)
	}
	return whole, nil
}

// extended returns a copy of the database with the additional segment for a difference, and the position of the new
// root.
func (v *View) extended(delta []byte) (whole []byte, at uint64, err error) {
	le := binary.LittleEndian
	if err := checkMagic(delta, DeltaMagic, "difference of path databases"); err != nil {
		return nil, 0, err
	}
	if len(delta) < deltaHead {
		return nil, 0, fmt.Errorf("the difference is truncated at byte %d, expected a head of %d", len(delta),
			deltaHead)
	}
	if deltaSum(delta[:deltaHead], delta[deltaHead:]) != le.Uint32(delta[28:]) {
		return nil, 0, fmt.Errorf("bytes 8 to %d of the difference: damaged", len(delta)-1)
	}
	if id, state := le.Uint64(delta[8:]), le.Uint64(delta[16:]); id != v.id || state != v.root.State ||
		le.Uint32(delta[24:]) != v.sum() {
		return nil, 0, fmt.Errorf("%w: the difference is for database %016x in state %d, but the file is "+
			"database %016x in state %d", ErrState, id,
			state, v.id, v.root.State)
	}
	z, err := files.NewDecoder(maxDelta)
	if err != nil {
		return nil, 0, err
	}
	defer z.Close()
	body, err := files.Decompress(z, delta[deltaHead:], maxDelta)
	if err != nil {
		return nil, 0, fmt.Errorf("decompress the difference from byte %d on: %w", deltaHead, err)
	}
	c := change{v: v, d: decoder{b: body}, root: v.root}
	c.h.b = append(make([]byte, 0, len(v.data)+len(v.data)/4), v.data...)
	at, err = c.run()
	return c.h.b, at, err
}

// change holds the state while a difference is being applied.
type change struct {
	v    *View
	d    decoder
	h    heap
	root root
}

func (c *change) run() (at uint64, err error) {
	start := beginSegment(&c.h)
	r := &c.root
	r.State++
	r.Built = int64(c.d.uint(1 << 62))
	r.LifeTime = uint32(c.d.uint(63))
	origin := c.d.take(int(c.d.uint(1 << 16)))
	r.OriginLen = uint32(len(origin))
	r.OffOrigin = c.h.elements(1, len(origin), func(_ int, b []byte) { copy(b, origin) })
	r.OffPorts = c.elements(r.OffPorts, r.Ports, portSize)
	r.OffSwitches = c.elements(r.OffSwitches, r.Switches, switchSize)
	c.classes()
	r.OffRecords = c.matrix(r.OffRecords, r.Rows, r.Classes)
	if c.d.uint(1) != uint64(r.HasTrace) {
		c.d.fail("the difference and the database must both have traces, or neither")
	}
	if r.HasTrace == 1 {
		r.OffWires = c.elements(r.OffWires, r.Switches*r.Width, wireSize)
		r.OffTrace = c.matrix(r.OffTrace, r.Switches, 1<<8)
	}
	if c.d.err == nil && len(c.d.b) > 0 {
		c.d.fail("%d unexpected bytes after the end", len(c.d.b))
	}
	if c.d.err != nil {
		return 0, fmt.Errorf("read the difference: %w", c.d.err)
	}
	if len(c.h.b) >= maxSize-1<<20 {
		return 0, fmt.Errorf("the path database has grown to %d MB; hint: build it again", len(c.h.b)>>20)
	}
	at = c.h.root(r)
	c.h.endSegment(start)
	return at, nil
}

// elements applies the changes of a table's elements. It returns the position of the new table.
func (c *change) elements(at uint64, n uint32, size int) uint64 {
	count := c.d.uint(uint64(n))
	if count == 0 {
		return at
	}
	table := append([]byte(nil), c.v.section(at, n, uint64(size))...)
	i := uint64(0)
	for range count {
		i += c.d.uint(uint64(n))
		v := c.d.take(size)
		if i >= uint64(n) {
			c.d.fail("a change of element %d, but the table has %d elements", i, n)
		}
		if c.d.err != nil {
			return at
		}
		copy(table[i*uint64(size):], v)
	}
	return c.h.elements(1, len(table), func(_ int, b []byte) { copy(b, table) })
}

func (c *change) classes() {
	r := &c.root
	fresh := c.d.uint(1<<16 - uint64(r.Classes))
	if fresh == 0 {
		return
	}
	table := append([]byte(nil), c.v.section(r.OffClasses, r.Classes, classSize)...)
	table = append(table, c.d.take(int(fresh)*classSize)...)
	r.Classes += uint32(fresh)
	r.OffClasses = c.h.elements(1, len(table), func(_ int, b []byte) { copy(b, table) })
}

// matrix applies the changes of a matrix. It returns the position of the new directory of rows.
func (c *change) matrix(dir uint64, rows, below uint32) uint64 {
	count := c.d.uint(uint64(rows))
	if count == 0 {
		return dir
	}
	table := append([]byte(nil), c.v.section(dir, rows, dirSize)...)
	row := uint64(0)
	for range count {
		row += c.d.uint(uint64(rows))
		if row >= uint64(rows) {
			c.d.fail("a change of row %d, but the matrix has %d rows", row, rows)
		}
		if c.d.err != nil {
			return dir
		}
		at := c.row(dir, uint32(row), below)
		binary.LittleEndian.PutUint64(table[row*dirSize:], at)
	}
	return c.h.elements(1, len(table), func(_ int, b []byte) { copy(b, table) })
}

// row applies the changes of the groups in a row. It returns the position of the new row.
func (c *change) row(dir uint64, row, below uint32) uint64 {
	groups := c.root.Groups
	symbols := make([]uint32, groups)
	for g := range groups {
		symbols[g] = symbol(c.v.data, dir, row, g)
	}
	tiles := int(groups+TileGroups-1) / TileGroups
	touched := make([]bool, tiles)
	g := uint64(0)
	c.h.align(4)
	for range c.d.uint(uint64(groups)) {
		g += c.d.uint(uint64(groups))
		if g >= uint64(groups) {
			c.d.fail("group %d does not exist: the switch has %d groups", g, groups)
		}
		if c.d.err != nil {
			return 0
		}
		symbols[g] = c.group(symbols[g], uint32(g), below)
		touched[g/TileGroups] = true
	}
	old := word64(c.v.data, dir+uint64(row)*dirSize)
	refs := make([]uint32, tiles)
	for t := range refs {
		refs[t] = word(c.v.data, old+uint64(t)*refSize)
		if touched[t] {
			refs[t] = c.h.block(symbols[t*TileGroups : min((t+1)*TileGroups, int(groups))])
		}
	}
	start := len(c.h.b)
	for _, ref := range refs {
		c.h.b = binary.LittleEndian.AppendUint32(c.h.b, ref)
	}
	return uint64(c.h.place(start))
}

// group applies the changes of the values in a group. It returns the new symbol of the group.
func (c *change) group(sym, g, below uint32) uint32 {
	n := c.v.groupSize(g)
	count := c.d.uint(uint64(n))
	if count == 0 {
		return uint32(c.d.uint(uint64(below) - 1))
	}
	values := make([]uint16, n)
	for i := range values {
		values[i] = value(c.v.data, sym, uint16(i))
	}
	i := uint64(0)
	for range count {
		i += c.d.uint(uint64(n))
		v := c.d.uint(uint64(below) - 1)
		if i >= uint64(n) {
			c.d.fail("a change of LID %d of a group, but the group has %d LIDs", i, n)
		}
		if c.d.err != nil {
			return 0
		}
		values[i] = uint16(v)
	}
	if constant(values) {
		return uint32(values[0])
	}
	start := len(c.h.b)
	c.h.b, _ = appendVector(c.h.b, values, nil)
	return constants + uint32(c.h.place(start)/4)
}

// decoder decodes numbers. It keeps the first error.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
		d.b = nil
	}
}

// uint decodes a number that must not exceed most. It returns 0 after an error.
func (d *decoder) uint(most uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("truncated")
		return 0
	}
	d.b = d.b[n:]
	if v > most {
		d.fail("%d, expected at most %d", v, most)
		return 0
	}
	return v
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail("truncated")
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}
