// SPDX-License-Identifier: Apache-2.0

// Package pathdb is a file with the path records between all ports of a subnet,
// any to any, that is mapped into memory and used in place.
//
// What the fabric decides about a path depends on the switch that the source hangs on and on the destination LID.
// So a record is found by a row, which all sources of one switch share, and the LID; what the links of both ends
// add stands with the ports. Rows are cut into cells that hold all LIDs of one destination switch. Equal cells
// are kept once; most are the same for all LIDs and need no memory. docs/pathdb.md describes every byte.
//
// Package routing/paths builds one from tables; its example asks one. Read first [Open], [View.Query] and [Record].
//
// A database answers many goroutines at once, allocates nothing for an answer, and
// can be changed by another process meanwhile: a change is appended, and then one
// word names the new state. An answer comes from one state, the old or the new.
package pathdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
)

// DB is an open database. Its methods can be called from many goroutines.
type DB struct {
	name    string
	current atomic.Pointer[uint64] // in the mapped head, nil where nobody changes the bytes
	state   atomic.Pointer[View]
	mu      sync.Mutex // of what follows
	file    *os.File
	maps    [][]byte
}

// View is one state of a database; it does not change. It is good until the database is closed.
type View struct {
	data []byte
	root root
	id   uint64
}

// Open maps a database and checks all of it. An error names the place of a damage. O(size).
func Open(ctx context.Context, name string) (*DB, error) {
	if err := files.Regular(ctx, name, files.Paths); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, files.Err(err)
	}
	db := &DB{name: name, file: f}
	if err := db.load(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", fabric.Escape(name), err), db.Close())
	}
	return db, nil
}

// Parse returns a database in memory, which it refers to.
func Parse(b []byte) (*DB, error) {
	v, err := parse(b)
	if err != nil {
		return nil, err
	}
	db := &DB{}
	db.state.Store(v)
	return db, nil
}

// load maps a file as it is now and makes its state the current one.
func (db *DB) load(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("no regular file, expected a path database")
	}
	if st.Size() == 0 {
		return errors.New("an empty file, expected a path database")
	}
	if st.Size() > maxSize {
		return fmt.Errorf("%d bytes, expected at most %d", st.Size(), maxSize)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	db.maps = append(db.maps, b)
	v, err := parse(b)
	if now, gone := f.Stat(); err != nil && gone == nil && now.Size() > st.Size() {
		return db.load(f) // a writer added to it between its size and its head
	}
	if err != nil {
		return err
	}
	if db.current.Load() == nil || f != db.file {
		db.current.Store((*uint64)(unsafe.Pointer(&b[offCurrent])))
	}
	db.state.Store(v)
	return nil
}

// View returns the current state. Where another process has changed the file, it is read and checked anew, O(size);
// meanwhile others see the state before. A changed file that is damaged changes nothing; [DB.Refresh] says why.
func (db *DB) View() *View {
	v := db.state.Load()
	if !db.newest(v) && db.mu.TryLock() {
		_ = db.refresh()
		db.mu.Unlock()
		v = db.state.Load()
	}
	return v
}

// newest reports whether no other process has changed the file since a view of it.
func (db *DB) newest(v *View) bool {
	current := db.current.Load()
	return current == nil || atomic.LoadUint64(current) == v.root.State
}

// Refresh takes up a change of the file now, and a file that has taken its name.
func (db *DB) Refresh() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.replaced() {
		return db.reopen()
	}
	return db.refresh()
}

// replaced reports whether another file has the name.
func (db *DB) replaced() bool {
	if db.file == nil {
		return false
	}
	mine, err := db.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(db.name)
	return err == nil && !os.SameFile(mine, now)
}

func (db *DB) reopen() error {
	f, err := os.Open(db.name)
	if err != nil {
		return files.Err(err)
	}
	if err := db.load(f); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", fabric.Escape(db.name), err), f.Close())
	}
	err = db.file.Close()
	db.file = f
	return err
}

func (db *DB) refresh() error {
	if db.newest(db.state.Load()) {
		return nil
	}
	if err := db.load(db.file); err != nil {
		return fmt.Errorf("%s: %w", fabric.Escape(db.name), err)
	}
	return nil
}

// Close gives the memory back; no view of the database may be used any more.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	var errs []error
	db.current.Store(nil)
	for _, m := range db.maps {
		errs = append(errs, unix.Munmap(m))
	}
	db.maps = nil
	if db.file != nil {
		errs = append(errs, db.file.Close())
		db.file = nil
	}
	return errors.Join(errs...)
}

// parse checks a database and returns its current state.
func parse(b []byte) (*View, error) {
	if err := checkMagic(b, Magic, "path database"); err != nil {
		return nil, err
	}
	if len(b) < headSize {
		return nil, fmt.Errorf("cut off at byte %d, expected a head of %d", len(b), headSize)
	}
	if err := checkZero(b, offCurrent+8, offSlots); err != nil {
		return nil, err
	}
	if err := checkZero(b, offSlots+2*slotSize, headSize); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	s, err := readSlot(b, le.Uint64(b[offCurrent:]))
	if err != nil {
		return nil, err
	}
	if s.End < headSize || s.End > uint64(len(b)) {
		return nil, fmt.Errorf("cut off at byte %d, expected %d", len(b), s.End)
	}
	b = b[:s.End:s.End]
	if err := checkSegments(b); err != nil {
		return nil, err
	}
	r, err := readRoot(b, s)
	if err != nil {
		return nil, err
	}
	v := &View{data: b, root: r, id: le.Uint64(b[offID:])}
	if err := v.check(); err != nil {
		return nil, err
	}
	return v, nil
}
