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

// Keys open what a protected subnet keeps to its manager; 0 is no key.
type Keys struct {
	M  uint64 // the M_Key, which opens the management agents
	SA uint64 // the SA_Key, by which the subnet administration trusts who asks
}

// ReadKeys reads the keys of a subnet from a file: an M_Key a line, 0x and up to 16 hexadecimal digits; or the lines of
// OpenSM's guid2mkey, a port GUID and its key; or those of opensm.conf, m_key KEY and sa_key KEY. All must name the
// same M_Key, for a subnet has one here. Empty lines and # comments are passed over. The file must be for nobody but
// its owner, who is the one who reads it or root: a key opens every switch of the subnet. Errors name file and line,
// and never a key. Before it reads it closes the process's memory to others (see [nocore.Set]).
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
		return Keys{}, fmt.Errorf("%s: there is no key in it", path)
	}
	return keys, nil
}

// private says of a file whether others may read it or have written it.
func private(info os.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others may read it (mode %04o), expected 0600 (try: chmod 600)", mode)
	}
	if stat, known := info.Sys().(*syscall.Stat_t); known && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, expected %d or root (try: chown)", stat.Uid, os.Geteuid())
	}
	return nil
}

var errKey = errors.New("expected KEY, GUID KEY, m_key KEY or sa_key KEY, where GUID and KEY are 0x and up to 16 " +
	"hexadecimal digits")

// take takes the words of a line.
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
		return errors.New("0 is no key: who has it is asked for none")
	case *to != 0 && *to != key:
		return fmt.Errorf("another %s than in the lines before; one for the whole subnet is supported", name)
	}
	*to = key
	return nil
}
