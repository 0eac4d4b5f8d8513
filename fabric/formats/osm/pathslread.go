// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// ReadPathSLs reads a file that [WritePathSLs] wrote. The runs of a source must ascend without overlap, and a source
// must occur only once. Errors begin with "name:line:". O(bytes).
func ReadPathSLs(r io.Reader, name string) (*PathSLs, error) {
	p := slParser{out: &PathSLs{}}
	lines := newLineReader(r, name)
	err := lines.each(func(text []byte) error {
		if !lines.ended {
			return errors.New("the file is truncated: the last line does not end")
		}
		return p.parse(bytes.TrimSpace(text))
	})
	if err != nil {
		return nil, err
	}
	if lines.line == 0 {
		return nil, fmt.Errorf("%s:1: the file is empty, expected SLs of paths", name)
	}
	return p.out, nil
}

type slParser struct{ out *PathSLs }

var (
	slFrom = []byte("from ")
	slTo   = []byte("to ")
)

func (p *slParser) parse(text []byte) error {
	switch {
	case len(text) == 0 || text[0] == '#':
		return nil
	case bytes.HasPrefix(text, slFrom):
		return p.from(text[len(slFrom):])
	case bytes.HasPrefix(text, slTo):
		return p.to(text[len(slTo):])
	}
	return fmt.Errorf("cannot parse %q, expected \"from 1-18,40\" or \"to 19-36 1\"", shorten(text))
}

func (p *slParser) from(text []byte) error {
	row := int32(len(p.out.runs))
	p.out.runs = append(p.out.runs, nil)
	for {
		first, last, rest, err := parseLIDs(text)
		if err != nil {
			return err
		}
		for len(p.out.rows) <= int(last) {
			p.out.rows = append(p.out.rows, -1)
		}
		for lid := int(first); lid <= int(last); lid++ {
			if p.out.rows[lid] >= 0 {
				return fmt.Errorf("LID %d is listed as a source twice", lid)
			}
			p.out.rows[lid] = row
		}
		if len(rest) == 0 {
			return nil
		}
		if rest[0] != ',' {
			return fmt.Errorf("cannot parse %q, expected a comma and more LIDs", shorten(rest))
		}
		text = rest[1:]
	}
}

func (p *slParser) to(text []byte) error {
	n := len(p.out.runs) - 1
	if n < 0 {
		return errors.New("destinations before any source, expected \"from 1-18,40\"")
	}
	first, last, rest, err := parseLIDs(text)
	if err != nil {
		return err
	}
	low, high, after, ok := parseRange(skipSpace(rest))
	if !ok || len(after) > 0 || len(rest) == 0 || rest[0] != ' ' || high > 15 || low > high {
		return fmt.Errorf("cannot parse SL in %q, expected 0 to 15, or a range like 4-7", shorten(text))
	}
	if runs := p.out.runs[n]; len(runs) > 0 && runs[len(runs)-1].last >= first {
		return fmt.Errorf("LID %d is not greater than LID %d", first, runs[len(runs)-1].last)
	}
	p.out.runs[n] = append(p.out.runs[n], slRun{first, last, fabric.SLRange{First: uint8(low), N: uint8(high-low) + 1}})
	return nil
}

func parseLIDs(text []byte) (first, last uint16, rest []byte, err error) {
	low, high, rest, ok := parseRange(text)
	switch {
	case !ok:
		return 0, 0, nil, fmt.Errorf("cannot parse LIDs in %q, expected text like 7 or 1-18", shorten(text))
	case low < 1 || high > fabric.MaxUnicastLID || low > high:
		return 0, 0, nil, fmt.Errorf("LIDs %d to %d are not a range of unicast LIDs, expected 1 to %d", low, high,
			fabric.MaxUnicastLID)
	}
	return uint16(low), uint16(high), rest, nil
}

// parseRange parses a number, or two numbers with a hyphen between them.
func parseRange(text []byte) (low, high int, rest []byte, ok bool) {
	low, rest, ok = parseDecimal(text)
	high = low
	if ok && len(rest) > 0 && rest[0] == '-' {
		high, rest, ok = parseDecimal(rest[1:])
	}
	return low, high, rest, ok
}
