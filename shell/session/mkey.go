// SPDX-License-Identifier: Apache-2.0

package session

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
	"example.org/ibconsole/internal/files"
)

// ReadMKey reads the M_Key of a subnet from a file: one key a line, 0x and up to 16 hexadecimal digits, or
// the lines of OpenSM's guid2mkey, a port GUID and its key. All must name the same key, for a subnet has one
// here. Empty lines and # comments are passed over. The file must be for nobody but its owner, who is the one
// who reads it or root: a key opens every switch of the subnet. Errors name file and line, and never the key.
func ReadMKey(ctx context.Context, path string) (uint64, error) {
	f, err := files.Open(ctx, path, files.Keys)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	path = fabric.Escape(path)
	if err := private(f.Info()); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	var key uint64
	found := false
	lines := bufio.NewScanner(f)
	read := 0
	for lines.Scan() {
		read++
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		k, err := parseMKey(words)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s:%d: %w", path, read, err)
		case k == 0:
			return 0, fmt.Errorf("%s:%d: 0 is no key: ports that have it ask for none", path, read)
		case found && k != key:
			return 0, fmt.Errorf("%s:%d: another key than in the lines before; one key for the whole subnet is supported", path, read)
		}
		key, found = k, true
	}
	switch {
	case lines.Err() != nil:
		return 0, fmt.Errorf("%s:%d: %w", path, read+1, lines.Err())
	case !found:
		return 0, fmt.Errorf("%s: there is no key in it", path)
	}
	return key, nil
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

var errMKey = errors.New("expected KEY or GUID KEY, each 0x and up to 16 hexadecimal digits")

func parseMKey(words []string) (key uint64, err error) {
	if len(words) > 2 {
		return 0, errMKey
	}
	for _, w := range words {
		digits, ok := strings.CutPrefix(strings.ToLower(w), "0x")
		if key, err = strconv.ParseUint(digits, 16, 64); !ok || err != nil {
			return 0, errMKey
		}
	}
	return key, nil
}
