// SPDX-License-Identifier: Apache-2.0

// Package names reads node-name maps. Such a map gives names to nodes whose descriptions are not helpful.
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

// maxLine is the maximum length of a line that infiniband-diags reads in one piece.
const maxLine = 254

// Map holds node names by node GUID, for [fabric.Fabric.WithDescriptions]. The names are not escaped.
type Map map[uint64]string

// ReadFile reads a node-name map from a file. See [Read].
func ReadFile(ctx context.Context, path string) (Map, error) {
	return files.Parse(ctx, path, files.List, Read)
}

// Read reads a node-name map like infiniband-diags and OpenSM (rdma-core, util/node_name_map.c). The map has a line for
// each node:
//
//	0x0002c90300000003 "sw1 rack 4"
//
// A name without quotes extends to the end of the line or to the next #. Read skips a GUID without a name, empty lines,
// and lines that begin with #. If a GUID has two names, the first name counts.
//
// Read returns an error with the line number for a line that does not begin with a GUID or is longer than 254 bytes.
// The argument file identifies the file in errors.
func Read(r io.Reader, file string) (Map, error) {
	m := Map{}
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		line := s.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if err := m.add(string(line)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s: a line is longer than %d bytes, expected 0xGUID \"NAME\"", file,
			bufio.MaxScanTokenSize)
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return m, nil
}

func (m Map) add(line string) error {
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

// parseGUID parses a number in C's notation: decimal, octal after 0, or hexadecimal after 0x.
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

// firstName returns the first token of s, where quotes and # separate tokens as in C's strtok.
func firstName(s string) string {
	s = strings.TrimLeft(s, `"#`)
	if i := strings.IndexAny(s, `"#`); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(s, "\r")
}
