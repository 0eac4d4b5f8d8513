// SPDX-License-Identifier: Apache-2.0

// Package names reads node-name maps, which give nodes names that their own
// descriptions lack.
package names

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
)

// maxLine is how much of a line the diagnostics read in one piece.
const maxLine = 254

// Map holds names by node GUID, as [fabric.Fabric.WithDescriptions] takes them.
// Names are as they stand in the file, not escaped.
type Map map[uint64]string

// ReadFile reads a map from a file. See [Read].
func ReadFile(ctx context.Context, path string) (Map, error) {
	return files.Parse(ctx, path, files.List, Read)
}

// Read reads a map as the InfiniBand diagnostics and OpenSM do (rdma-core,
// util/node_name_map.c): a line
//
//	0x0002c90300000003 "sw1 rack 4"
//
// a node. A name without quotes goes on to the end of the line or the next #;
// a GUID without a name is passed over, and so are empty lines and those that
// begin with #. The first of two names for one GUID counts. A line that does not
// begin with a GUID, or is longer than 254 bytes, is an error that names the line;
// file stands for r.
func Read(r io.Reader, file string) (Map, error) {
	m := Map{}
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		line := s.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if err := m.take(string(line)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s: a line of more than %d bytes, expected 0xGUID \"NAME\"", file,
			bufio.MaxScanTokenSize)
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return m, nil
}

func (m Map) take(line string) error {
	if strings.IndexByte(line, 0) >= 0 {
		return errors.New("binary data, expected 0xGUID \"NAME\"")
	}
	if len(line) > maxLine {
		return fmt.Errorf("a line of %d bytes, expected at most %d", len(line), maxLine)
	}
	line = strings.TrimLeft(line, " \t\v\f\r")
	if line == "" || line[0] == '#' {
		return nil
	}
	end := strings.IndexAny(line, " \t\v\f\r#")
	if end < 0 {
		end = len(line)
	}
	guid, err := parseGUID(line[:end])
	if err != nil {
		return err
	}
	name := firstName(strings.TrimLeft(line[end:], " \t\v\f\r"))
	if _, ok := m[guid]; !ok && name != "" {
		m[guid] = name
	}
	return nil
}

// parseGUID reads a number as C does: a decimal one, or octal after 0, or
// hexadecimal after 0x.
func parseGUID(s string) (uint64, error) {
	if len(s) > 1 && s[0] == '0' && strings.ContainsRune("bBoO", rune(s[1])) || strings.IndexByte(s, '_') >= 0 {
		return 0, badGUID(s)
	}
	guid, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0, badGUID(s)
	}
	return guid, nil
}

func badGUID(s string) error {
	return fmt.Errorf("bad GUID %q, expected 0xGUID \"NAME\"", fabric.Escape(s[:min(len(s), 40)]))
}

// firstName returns the first text that quotes or # leave over, as with C's strtok.
func firstName(s string) string {
	s = strings.TrimLeft(s, `"#`)
	if i := strings.IndexAny(s, `"#`); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(s, "\r")
}
