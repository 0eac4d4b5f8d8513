// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/health"
)

// BERs holds the bit error rates of ibdiagnet2.net_dump_ext.
type BERs []portBER

type portBER struct {
	guid  uint64
	port  uint8
	rates [health.NumBERs]health.Rate
	line  int
}

// berColumns lists the names of the columns that are read, in lower case. The last three columns are the bit error
// rates.
var berColumns = [...]string{"guid", "#ib", "raw ber", "effective ber", "symbol ber"}

const maxBERs = 4 << 20

// ReadBERs reads a file ibdiagnet2.net_dump_ext. The file has a line of column names, then one line for each port. The
// columns are separated by colons. O(bytes).
func ReadBERs(ctx context.Context, r io.Reader, name string, found *unread.List) (BERs, error) {
	p := &berReader{findings: findings{name: name, found: found}}
	_, err := unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		p.line = line
		return p.parse(bytes.TrimSpace(text))
	})
	if err == nil && !p.headed {
		err = p.refuse("no header line with the columns GUID, #IB and BER was found, so bit error rates are unknown")
	}
	return p.out, err
}

type berReader struct {
	findings
	out    BERs
	place  [len(berColumns)]int // by column: the number of its field, from 1; 0 for none
	fields int
	headed bool
}

func (p *berReader) parse(text []byte) error {
	if len(text) == 0 || text[0] == '#' {
		return nil
	}
	if !p.headed {
		p.header(text)
		return nil
	}
	var at [len(berColumns)][]byte
	n := 0
	for rest, more := text, true; more && n < p.fields; n++ {
		var field []byte
		field, rest, more = bytes.Cut(rest, []byte(":"))
		for c, place := range p.place {
			if place == n+1 {
				at[c] = bytes.TrimSpace(field)
			}
		}
	}
	guid, ok := parse(at[0])
	port, ok2 := parse(at[1])
	if !ok || !ok2 || port > 254 || n < p.fields {
		return p.refuse("cannot parse the port in %s, expected %d fields with colons between them",
			quote(text), p.fields)
	}
	b := portBER{guid: guid, port: uint8(port), line: p.line}
	any := false
	for i := range b.rates {
		v, err := strconv.ParseFloat(string(at[2+i]), 64)
		if err == nil && v >= 0 && v <= 1 {
			b.rates[i], any = health.Rate{Value: v, Known: true}, true
		}
	}
	if any && len(p.out) < maxBERs {
		p.out = append(p.out, b)
	}
	return nil
}

// header finds the columns in the first line. Only the last column, the description, may contain colons.
func (p *berReader) header(text []byte) {
	p.place = [len(berColumns)]int{}
	fields := bytes.Split(text, []byte(":"))
	p.fields = len(fields)
	for i, field := range fields {
		for c, name := range berColumns {
			if p.place[c] == 0 && bytes.EqualFold(bytes.TrimSpace(field), []byte(name)) {
				p.place[c] = i + 1
			}
		}
	}
	p.headed = p.place[0] > 0 && p.place[1] > 0 && p.place[2]+p.place[3]+p.place[4] > 0
}

// On adds the rates to the report of a fabric. It returns warnings about rates that could not be added.
func (b BERs) On(f *fabric.Fabric, to *health.Report, name string) []string {
	var unknown tally
	for i := range b {
		r := &b[i]
		at := fabric.PortIndex(fabric.None)
		if n := f.NodeByGUID(r.guid); n != fabric.None {
			at = f.PortAt(n, int(r.port))
		} else if e := f.PortByGUID(r.guid); e != fabric.None {
			at = e
		}
		if at == fabric.None {
			unknown.add("port " + strconv.Itoa(int(r.port)) + " of " + strconv.FormatUint(r.guid, 16))
			continue
		}
		to.Of(at).BER = r.rates
	}
	return unknown.lines(name, "bit error rates of ports that are not in the subnet were ignored")
}
