// SPDX-License-Identifier: Apache-2.0

// Package pathdb implements a database file with the path records between all pairs of ports of a subnet. The file is
// mapped into memory and used in place.
//
// A path depends only on the switch to which the source is attached and on the destination LID. A record is therefore
// found by a row, which all sources of a switch share, and the LID. Properties of the links at both ends are stored
// with the ports. Rows are divided into cells with all LIDs of one destination switch. Equal cells are stored once.
// Most cells have one value for all LIDs and need no memory. docs/pathdb.md describes every byte.
//
// Package routing/paths builds a database from forwarding tables; its example queries a database. Start with [Open],
// [View.Query] and [Record].
//
// A database is safe for concurrent use, and a query allocates nothing. Another process can change the database at any
// time: it appends the change, then switches to the new state by writing one word. Each answer is from a single state,
// the old or the new one.
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

// DB is an open database. It is safe for concurrent use.
type DB struct {
	name    string
	current atomic.Pointer[uint64] // in the mapped head, nil if the bytes cannot change
	state   atomic.Pointer[View]
	mu      sync.Mutex // guards the following fields
	file    *os.File
	maps    [][]byte
}

// View is one state of a database. A view does not change. It is valid until the database is closed.
type View struct {
	data []byte
	root root
	id   uint64
}

// Open maps a database into memory and checks it completely. If the file is damaged, the error contains the position of
// the damage. O(size).
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

// Parse returns the database that b contains. It keeps a reference to b.
func Parse(b []byte) (*DB, error) {
	v, err := parse(b)
	if err != nil {
		return nil, err
	}
	db := &DB{}
	db.state.Store(v)
	return db, nil
}

// load maps the current file into memory and publishes its state.
func (db *DB) load(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("not a regular file, expected a path database")
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
	if now, statErr := f.Stat(); err != nil && statErr == nil && now.Size() > st.Size() {
		return db.load(f) // a writer extended it after its size was read
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

// View returns the current state. If another process has changed the file, View reads and checks it again, O(size).
// Other goroutines meanwhile see the previous state. If the new file is damaged, the previous state remains, and
// [DB.Refresh] returns the reason.
func (db *DB) View() *View {
	v := db.state.Load()
	if !db.newest(v) && db.mu.TryLock() {
		_ = db.refresh()
		db.mu.Unlock()
		v = db.state.Load()
	}
	return v
}

// newest reports whether v is the newest state: no process has changed the file since.
func (db *DB) newest(v *View) bool {
	current := db.current.Load()
	return current == nil || atomic.LoadUint64(current) == v.root.State
}

// Refresh loads the file again if it has changed or if another file has replaced it.
func (db *DB) Refresh() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.replaced() {
		return db.reopen()
	}
	return db.refresh()
}

// replaced reports whether another file now has the database's file name.
func (db *DB) replaced() bool {
	if db.file == nil {
		return false
	}
	own, err := db.file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(db.name)
	return err == nil && !os.SameFile(own, now)
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

// Close releases the memory of the database. Views of the database must not be used afterwards.
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
		return nil, fmt.Errorf("truncated at byte %d, expected a head of %d", len(b), headSize)
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
		return nil, fmt.Errorf("truncated at byte %d, expected %d", len(b), s.End)
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
