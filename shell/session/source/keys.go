// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/nocore"
)

// Keys are the keys of a protected subnet. A key is 0 if there is none.
type Keys struct {
	M  uint64 // the M_Key, which management agents require
	SA uint64 // the SA_Key, with which the subnet administration trusts a requester
}

// ReadKeys reads the keys of a subnet from a file. A line is one of these:
//
//   - an M_Key: 0x and up to 16 hexadecimal digits
//   - a line of OpenSM's guid2mkey: a port GUID and its M_Key
//   - a line of opensm.conf: m_key KEY or sa_key KEY
//   - an empty line or a # comment, which is skipped
//
// All M_Keys must be equal, because only one per subnet is supported. Only the owner may have access to the file, and
// the owner must be the reader or root, because a key gives access to every switch of the subnet. Errors contain the
// file and the line, but never a key. Before reading, ReadKeys makes the memory of the process inaccessible to others
// (see [nocore.Set]).
func ReadKeys(ctx context.Context, path string) (Keys, error) {
	var keys Keys
	if err := nocore.Set(); err != nil {
		return keys, err
	}
	f, err := files.Open(ctx, path, files.Keys)
	if err != nil {
		return keys, err
	}
	defer func() { _ = f.Close() }()
	path = fabric.Escape(path)
	if err := private(f.Info()); err != nil {
		return keys, fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := keys.take(words); err != nil {
			return Keys{}, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return Keys{}, fmt.Errorf("%s: %w", path, lines.Err())
	case keys == Keys{}:
		return Keys{}, fmt.Errorf("%s: the file has no key", path)
	}
	return keys, nil
}

// private returns an error if other users may read a file or could have written it.
func private(info os.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("other users may read the file (mode %04o), expected 0600; hint: run 'chmod 600' on "+
			"it", mode)
	}
	if stat, known := info.Sys().(*syscall.Stat_t); known && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("the file belongs to user %d, expected %d or root; hint: change the owner with "+
			"'chown'", stat.Uid, os.Geteuid())
	}
	return nil
}

var errKey = errors.New("expected KEY, GUID KEY, m_key KEY or sa_key KEY, where GUID and KEY are 0x and up to 16 " +
	"hexadecimal digits")

// The method take sets the keys that the words of a line contain.
func (k *Keys) take(words []string) error {
	to, name := &k.M, "M_Key"
	if len(words) == 2 && (words[0] == "m_key" || words[0] == "sa_key") {
		if words[0] == "sa_key" {
			to, name = &k.SA, "SA_Key"
		}
		words = words[1:]
	}
	if len(words) > 2 {
		return errKey
	}
	var key uint64
	for _, w := range words {
		digits, ok := strings.CutPrefix(strings.ToLower(w), "0x")
		var err error
		if key, err = strconv.ParseUint(digits, 16, 64); !ok || err != nil {
			return errKey
		}
	}
	switch {
	case key == 0:
		return errors.New("0 is not a key: a key of 0 protects nothing")
	case *to != 0 && *to != key:
		return fmt.Errorf("a second %s that differs from the first; only one for the whole subnet is supported", name)
	}
	*to = key
	return nil
}
