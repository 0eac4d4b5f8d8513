// SPDX-License-Identifier: Apache-2.0

package plans

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/files"
)

// Library holds the port names of the front panels of systems, from IBNL files. A nil library is empty.
type Library struct {
	systems map[string]*ibnlSystem // top-level systems
}

// ibnlSystem is a system or a part of one.
type ibnlSystem struct {
	panel map[string]inner // by name of a port of the panel
	parts map[string]string
	local map[string]*ibnlSystem // the parts of the file, by name
}

// inner is what a port of a panel leads to: a port of a chip, or a port of a part.
type inner struct {
	part string
	port string // of a part
	num  int    // of a chip, 0 for a part
}

// ReadLibrary reads all IBNL files of a folder.
func ReadLibrary(ctx context.Context, folder string) (*Library, error) {
	list, err := files.Folder(ctx, folder)
	if err != nil {
		return nil, err
	}
	lib := &Library{map[string]*ibnlSystem{}}
	for _, e := range list.Entries {
		if e.Folder || !strings.EqualFold(filepath.Ext(e.Name), ".ibnl") {
			continue
		}
		err := files.Read(ctx, filepath.Join(folder, e.Name), files.Config, func(r io.Reader) error {
			return lib.Add(ctx, r, fabric.Escape(filepath.Join(folder, e.Name)))
		})
		if err != nil {
			return nil, err
		}
	}
	if len(lib.systems) == 0 {
		return nil, fmt.Errorf("%s: no system, expected files *.ibnl", fabric.Escape(folder))
	}
	return lib, nil
}

var (
	ibnlNames = regexp.MustCompile(`^(TOPSYSTEM|SYSTEM)\s+(.+)$`)
	ibnlNode  = regexp.MustCompile(`^NODE\s+(?:SW|CA|HCA)\s+\d+\s+\S+\s+(\S+)$`)
	ibnlPart  = regexp.MustCompile(`^SUBSYSTEM\s+(\S+)\s+(\S+)$`)
	ibnlLink  = regexp.MustCompile(`^(\S+)\s+-[^>\s]*>\s+(\S+)(?:\s+(\S+))?$`)
)

// Add reads an IBNL file.
func (lib *Library) Add(ctx context.Context, r io.Reader, file string) error {
	if lib.systems == nil {
		lib.systems = map[string]*ibnlSystem{}
	}
	parts := map[string]*ibnlSystem{}
	var now *ibnlSystem
	var in string // the node or part whose links follow
	isNode := false
	_, err := unread.EachLine(ctx, r, file, func(line int, text []byte) error {
		s := strings.TrimSpace(string(text))
		bad := func(want string) error {
			return fmt.Errorf("%s:%d: %q, expected %s", file, line, cut(s), want)
		}
		switch {
		case text == nil:
			return fmt.Errorf("%s:%d: the line is longer than %d bytes", file, line, unread.MaxLine)
		case s == "" || s[0] == '#' || strings.HasPrefix(s, "CFG:"):
			return nil
		}
		if m := ibnlNames.FindStringSubmatch(s); m != nil {
			now, in = &ibnlSystem{map[string]inner{}, map[string]string{}, parts}, ""
			for name := range strings.SplitSeq(m[2], ",") {
				if m[1] == "SYSTEM" {
					parts[strings.TrimSpace(name)] = now
				} else {
					lib.systems[strings.TrimSpace(name)] = now
				}
			}
			return nil
		}
		if now == nil {
			return bad("SYSTEM or TOPSYSTEM")
		}
		if m := ibnlNode.FindStringSubmatch(s); m != nil {
			in, isNode = m[1], true
			return nil
		}
		if m := ibnlPart.FindStringSubmatch(s); m != nil {
			in, isNode = m[2], false
			now.parts[in] = m[1]
			return nil
		}
		m := ibnlLink.FindStringSubmatch(s)
		switch {
		case m == nil && in == "" && strings.Contains(s, "="): // an attribute
			return nil
		case m == nil || in == "":
			return bad("NODE, SUBSYSTEM or PORT -> NAME")
		case m[3] != "": // a link inside the system
			return nil
		case !isNode:
			now.panel[m[2]] = inner{part: in, port: m[1]}
			return nil
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > maxPort {
			return bad("a port number from 1 to 254")
		}
		now.panel[m[2]] = inner{part: in, num: n}
		return nil
	})
	return err
}

// maxDepth is the maximum depth of parts in parts.
const maxDepth = 8

// find returns the chip with a port of a panel as a path such as "L1/U2", and the number of the port on this chip. The
// result known is false if the library does not have the system. The number is 0 if the system has no such port.
func (lib *Library) find(system, port string) (known bool, path string, num int) {
	if lib == nil || lib.systems[system] == nil {
		return false, "", 0
	}
	s := lib.systems[system]
	for depth := 0; s != nil && depth < maxDepth; depth++ {
		to, ok := s.panel[port]
		if !ok {
			break
		}
		if path != "" {
			path += "/"
		}
		path += to.part
		if to.num > 0 {
			return true, path, to.num
		}
		s, port = s.local[s.parts[to.part]], to.port
	}
	return true, "", 0
}
