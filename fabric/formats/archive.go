// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
)

// readArchive reads an ibdiagnet folder from a tar archive, one member after the other.
func readArchive(ctx context.Context, r io.Reader, file string, o Options) (s Subnet, err error) {
	g := gather(ctx, file, o)
	if err := g.archive(tar.NewReader(r)); err != nil {
		return s, err
	}
	if g.state != nil {
		return *g.state, nil
	}
	return g.subnet()
}

// The names of the snapshots in the archive of an incident.
const (
	StateBefore = "before"
	StateAfter  = "after"
	// Snapshot is the end of their file names.
	Snapshot = ".snapshot"
)

// stateOf splits the path of a state in the archive of an incident, such as incident.tar.gz/before. Without a state the
// path is that of the archive, and the state is the one after the incident.
func stateOf(ctx context.Context, path string) (archive, state string) {
	for _, state := range []string{StateBefore, StateAfter} {
		archive, ok := strings.CutSuffix(path, "/"+state)
		if info, err := files.Stat(ctx, archive); ok && err == nil && info.Mode().IsRegular() {
			return archive, state
		}
	}
	return path, StateAfter
}

const (
	// maxMembers is the maximum number of headers in an archive. maxIgnored is the maximum total size of ignored
	// members, in bytes.
	maxMembers = 10_000
	maxIgnored = 8 << 30
)

// archive reads the known members.
func (g *gathered) archive(t *tar.Reader) error {
	ignored := int64(0)
	for range maxMembers {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", fabric.Escape(g.name), err)
		}
		if h.Typeflag == tar.TypeReg && h.Name == g.wanted+Snapshot {
			s, err := readSnapshot(t, g.name+"/"+h.Name)
			s.When, g.state = h.ModTime, &s
			return err
		}
		m := memberOf(path.Base(h.Name))
		if h.Typeflag != tar.TypeReg || m == nil {
			if ignored += h.Size; ignored > maxIgnored {
				return fmt.Errorf("%s: %w: the archive has more than %d GB of files that ibdiagnet does not "+
					"write", fabric.Escape(g.name),
					files.ErrTooLarge, maxIgnored>>30)
			}
			continue
		}
		name := g.name + "/" + path.Base(h.Name)
		switch old := g.names[m.suffix]; {
		case old != "" && ours(path.Base(old)) == ours(path.Base(name)):
			return fmt.Errorf("%s: two files whose names end in %s, expected one", fabric.Escape(g.name), m.suffix)
		case old != "" && ours(path.Base(old)):
			continue
		case h.Size > m.kind.Most:
			return fmt.Errorf("%s: %w: more than %d MB, the limit of %s", fabric.Escape(name), files.ErrTooLarge,
				m.kind.Most>>20, m.kind.Name)
		}
		g.setName(m, name, h.ModTime)
		err = m.read(g, files.Limited(files.Decoded(t), name, m.kind), name)
		g.setError(m, err)
		if errors.Is(err, files.ErrTooLarge) || g.ctx.Err() != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w: more than %d files", fabric.Escape(g.name), files.ErrTooLarge, maxMembers)
}

// isTar reports whether a file begins with a valid header of a tar archive.
func isTar(b []byte) bool {
	if len(b) < 512 {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(b[:512])).Next()
	return err == nil
}
