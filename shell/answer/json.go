// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
)

// JSON writes the answer as objects, one per line: the head, an object for each row of the tables that stream, and the
// end. The argument number is the number of the answer in a run, counted from 1. If a row cannot be read, the last
// object has kind error, and JSON returns that error.
func (a *Answer) JSON(w io.Writer, number int) error {
	o := &encoder{w: w, command: a.command, subnet: a.basis.Subnet, number: number}
	o.head(a)
	streamed, rows := false, int64(0)
	for i := range a.tables {
		t := &a.tables[i]
		if !t.stream {
			continue
		}
		streamed = true
		keys := keysOf(t.columns)
		err := t.rows(func(values []Value) error {
			rows++
			o.begin(t.key)
			if o.subnet != "" {
				o.key("subnet").text(o.subnet)
			}
			o.fields(keys, values)
			return o.end()
		})
		if o.err != nil {
			return o.err
		}
		if err != nil {
			o.begin("error")
			o.key("cause").text(prose.When(errors.Is(err, context.Canceled), "interrupted", err.Error()))
			if werr := o.end(); werr != nil {
				return werr
			}
			return err
		}
	}
	if streamed {
		o.begin("end")
		o.key("rows").number64(rows)
		o.unread(a.basis.Unread)
		o.verdict(a)
		_ = o.end()
	}
	return o.err
}

// encoder appends JSON to a buffer and writes the buffer at the end of each object.
type encoder struct {
	w               io.Writer
	command, subnet string
	number          int
	b               []byte
	err             error
}

func (o *encoder) begin(kind string) {
	o.b = append(o.b[:0], `{"command":`...)
	o.text(o.command)
	o.key("answer").number64(int64(o.number))
	o.key("kind").text(kind)
}

func (o *encoder) end() error {
	o.b = append(o.b, "}\n"...)
	if o.err == nil {
		_, o.err = o.w.Write(o.b)
	}
	return o.err
}

func (o *encoder) head(a *Answer) {
	o.begin("answer")
	o.key("schema").number64(SchemaVersion)
	o.key("of")
	o.basis(&a.basis)
	o.verdict(a)
	for i := range a.facts {
		if f := &a.facts[i]; f.Key != "" && !f.Value.IsNone() {
			o.key(f.Key).value(f.Value)
		}
	}
	for i := range a.tables {
		if t := &a.tables[i]; !t.stream {
			o.array(t)
		}
	}
	_ = o.end()
}

// array writes the rows of a table as a list.
func (o *encoder) array(t *boundTable) {
	o.key(t.key)
	if t.unread {
		o.value(NotRead())
		return
	}
	o.b = append(o.b, '[')
	keys, first := keysOf(t.columns), true
	err := t.rows(func(values []Value) error {
		if !first {
			o.b = append(o.b, ',')
		}
		first = false
		o.b = append(o.b, '{')
		o.fields(keys, values)
		o.b = append(o.b, '}')
		return nil
	})
	o.b = append(o.b, ']')
	if o.err == nil {
		o.err = err
	}
}

func (o *encoder) verdict(a *Answer) {
	if !a.judged {
		return
	}
	v, found := a.Verdict()
	o.key("verdict").text(v.String())
	if found != "" {
		o.key("found").text(found)
	}
}

func (o *encoder) basis(b *Basis) {
	o.b = append(o.b, '{')
	o.optional("subnet", b.Subnet)
	o.optional("state", b.State)
	o.optional("labels", b.Labels)
	o.optional("engine", b.Engine)
	o.optional("title", b.Title)
	o.optional("source", b.Source)
	if b.Entry != 0 {
		o.key("entry").number64(b.Entry)
	}
	if !b.AsOf.IsZero() {
		o.key("as_of").text(b.AsOf.Format(time.RFC3339))
	}
	for _, x := range []struct {
		key string
		is  bool
	}{{"stale", b.Stale}, {"estimate", b.Estimate}, {"written", b.Written}} {
		if x.is {
			o.key(x.key).value(Bool(true))
		}
	}
	o.key("warnings").value(Texts(b.Warnings))
	o.unread(b.Unread)
	o.b = append(o.b, '}')
}

func (o *encoder) unread(u Unread) {
	o.key("unread")
	o.b = append(o.b, '{')
	o.key("count").number64(int64(u.Count))
	o.key("causes")
	o.b = append(o.b, '[')
	for i, c := range u.Causes {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, '{')
		o.key("what").text(c.What)
		o.key("why").text(c.Why)
		at := make([]Value, len(c.At))
		for j, p := range c.At {
			at[j] = At(p)
		}
		o.key("at").value(List(at))
		o.key("count").number64(int64(c.Count))
		o.b = append(o.b, '}')
	}
	o.b = append(o.b, ']', '}')
}

func (o *encoder) optional(key, text string) {
	if text != "" {
		o.key(key).text(text)
	}
}

// keysOf returns the keys of the columns as JSON strings. The entry of a column without a key is nil.
func keysOf(columns []Column) [][]byte {
	keys := make([][]byte, len(columns))
	for i := range columns {
		if columns[i].Key != "" {
			keys[i] = append(appendText(nil, columns[i].Key), ':')
		}
	}
	return keys
}

func (o *encoder) fields(keys [][]byte, values []Value) {
	for i, v := range values {
		if keys[i] != nil && !v.IsNone() {
			o.comma()
			o.b = append(o.b, keys[i]...)
			o.value(v)
		}
	}
}

// comma appends a comma, except at the beginning of an object or list.
func (o *encoder) comma() {
	if last := o.b[len(o.b)-1]; last != '{' && last != '[' {
		o.b = append(o.b, ',')
	}
}

func (o *encoder) key(key string) *encoder {
	o.comma()
	o.text(key)
	o.b = append(o.b, ':')
	return o
}

func (o *encoder) text(s string) { o.b = appendText(o.b, s) }

func (o *encoder) number64(n int64) { o.b = strconv.AppendInt(o.b, n, 10) }

func (o *encoder) value(v Value) { o.b = v.appendJSON(o.b) }

// appendJSON appends the value as JSON. Strings are encoded as by encoding/json, then by [plain.EscapeJSON].
func (v Value) appendJSON(b []byte) []byte {
	switch v.kind {
	case KindText:
		return appendText(b, v.text)
	case KindInt, KindLID:
		return strconv.AppendInt(b, int64(v.num), 10)
	case KindFloat:
		return appendFloat(b, v.float())
	case KindBool:
		return strconv.AppendBool(b, v.num == 1)
	case KindGUID:
		return appendText(b, guidText(v.num))
	case KindTime:
		return appendText(b, v.time().Format(time.RFC3339Nano))
	case KindDuration:
		return appendFloat(b, time.Duration(v.num).Seconds())
	case KindTexts:
		b = append(b, '[')
		for i, s := range v.ref.([]string) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, s)
		}
		return append(b, ']')
	case KindList:
		b = append(b, '[')
		for i, x := range v.ref.([]Value) {
			if i > 0 {
				b = append(b, ',')
			}
			b = x.appendJSON(b)
		}
		return append(b, ']')
	case KindMap:
		b = append(b, '{')
		for i, x := range v.ref.([]Named) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, x.Name), ':')
			b = x.Value.appendJSON(b)
		}
		return append(b, '}')
	case KindPlace:
		p, _ := v.Place()
		return p.appendJSON(b)
	}
	return append(b, "null"...)
}

func (p *Place) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = appendText(b, p.Name)
	b = append(b, `,"guid":"`...)
	b = append(b, guidText(p.GUID)...)
	b = append(b, '"')
	if p.LID != 0 {
		b = append(b, `,"lid":`...)
		b = strconv.AppendUint(b, uint64(p.LID), 10)
	}
	if p.Port >= 0 {
		b = append(b, `,"port":`...)
		b = strconv.AppendInt(b, int64(p.Port), 10)
	}
	if p.Label != "" {
		b = append(b, `,"label":`...)
		b = appendText(b, p.Label)
	}
	return append(b, '}')
}

// appendFloat appends the shortest decimal number that parses as x.
func appendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'f', -1, 64) }

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil { // never: any string can be marshalled
				return append(b, `""`...)
			}
			return append(b, plain.EscapeJSON(quoted)...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
