// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osmlog"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
)

// trace returns the path of a pair in a state, as text.
func trace(p *session.Picture, pair diff.Pair) string {
	f := p.Fabric
	src, dst := f.PortByGUID(uint64(pair.Src.GUID)), f.PortByGUID(uint64(pair.Dst.GUID))
	if src == fabric.None || dst == fabric.None {
		return "not in the subnet"
	}
	path := walk.Between(p.Tables, src, dst, f.LIDOf(dst))
	var hops []string
	for _, h := range path.Hops {
		switch {
		case h.Out != fabric.None:
			hops = append(hops, f.PortName(h.Out))
		case h.In != fabric.None:
			hops = append(hops, f.PortName(h.In))
		default:
			hops = append(hops, f.NodeName(h.Node))
		}
	}
	return fmt.Sprintf("%s (%v)", strings.Join(hops, ", "), path.Verdict)
}

// maxLog is the maximum size of the lines of the log in a bundle.
const maxLog = 64 << 20

// errFull ends the reading of a log.
var errFull = errors.New("full")

// smLog adds the lines of the subnet manager's log in the time span, from the file and from the file of the rotation
// before, FILE.1.
func (g *gatherer) smLog() error {
	if g.opt.SMLog == "" {
		g.miss("the subnet manager's log", "no file was named (smlog=FILE)")
		return nil
	}
	var out bytes.Buffer
	found := false
	for _, path := range []string{g.opt.SMLog + ".1", g.opt.SMLog} {
		info, err := files.Stat(g.ctx, path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			g.miss("the subnet manager's log", "%v", err)
			continue
		}
		found = true
		p := osmlog.Parser{Near: info.ModTime}
		err = files.Read(g.ctx, path, files.Tables.Regular(), func(r io.Reader) error {
			return osmlog.Lines(r, func(line string) error {
				p.Line(line)
				if at := p.At(); at.Before(g.opt.Since) || at.After(g.opt.Until) {
					return nil
				}
				if out.Len()+len(line) > maxLog {
					return errFull
				}
				out.WriteString(plain.EscapeLine(g.text(line)) + "\n")
				return nil
			})
		})
		switch {
		case errors.Is(err, errFull):
			g.miss("later lines of the subnet manager's log", "more than %d MB", maxLog>>20)
		case g.ctx.Err() != nil:
			return g.ctx.Err()
		case err != nil:
			g.miss("the subnet manager's log", "%v", err)
		}
	}
	switch {
	case !found:
		g.miss("the subnet manager's log", "open %s: no such file", plain.Escape(g.opt.SMLog))
	case out.Len() == 0:
		g.miss("the subnet manager's log", "it has no lines in the time span")
	default:
		g.add("sm.log", g.opt.Until, out.Bytes())
	}
	return nil
}
