// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
)

// findings takes what of a file cannot be read.
type findings struct {
	name  string
	found *unread.List // nil where the first finding is the error
	line  int
}

// refuse lists what is wrong with the line, or gives it back where that ends the reading.
func (p *findings) refuse(format string, args ...any) error {
	return p.refuseAt(p.line, format, args...)
}

func (p *findings) refuseAt(line int, format string, args ...any) error {
	return p.add(unread.At(p.name, line, format, args...))
}

// truncated says that the file, or a part of it, has no end.
func (p *findings) truncated(format string, args ...any) error {
	f := unread.At(p.name, p.line, format, args...)
	f.Kind = unread.Truncated
	return p.add(f)
}

func (p *findings) add(f unread.Finding) error {
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

// quote makes a piece of a line fit for a message.
func quote(text []byte) string { return fabric.Escape(fmt.Sprintf("%.60q", text)) }
