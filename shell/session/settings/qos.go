// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/routing/engines/torus"
)

var (
	// A partition has "sl=N" (OpenSM's doc/partition-config.txt). A QoS policy has "sl: N"
	// (doc/QoS_management_in_OpenSM.txt).
	partitionSL = regexp.MustCompile(`\bsl\s*=\s*(\w+)`)
	policySL    = regexp.MustCompile(`^\s*sl\s*:\s*(\w+)`)
)

// noteTorusQoS adds notes about quality-of-service settings of an opensm.conf that torus-2QoS does not support: service
// levels other than 0 and 8, and configured SL2VL tables (end of torus-2QoS(8)).
func (s *Settings) noteTorusQoS(ctx context.Context, conf *osm.Conf, around *Around) {
	if !slices.Contains(s.Chain, torus.Name) {
		return
	}
	for _, o := range conf.Options {
		if strings.HasPrefix(o.Name, "qos_") && strings.HasSuffix(o.Name, "sl2vl") {
			s.Notes = append(s.Notes, fmt.Sprintf("%s:%d: %s is ignored: torus-2QoS maps SLs to VLs itself", conf.Name,
				o.Line, o.Name))
		}
	}
	for option, form := range map[string]*regexp.Regexp{partitionFile: partitionSL, "qos_policy_file": policySL} {
		s.noteSLs(ctx, around.file(conf, option), form)
	}
}

// noteSLs adds notes about the SLs in a file that are neither 0 nor 8. If the file cannot be read, it adds none.
func (s *Settings) noteSLs(ctx context.Context, path string, form *regexp.Regexp) {
	text, err := files.All(ctx, path, files.List)
	if err != nil {
		return
	}
	line := 0
	for l := range strings.Lines(string(text)) {
		line++
		l, _, _ = strings.Cut(l, "#")
		for _, m := range form.FindAllStringSubmatch(l, -1) {
			if m[1] != "0" && m[1] != "8" {
				s.Notes = append(s.Notes,
					fmt.Sprintf("%s:%d: service level %s: torus-2QoS allows only 0 and 8; it uses the others for "+
						"paths", fabric.Escape(path), line, m[1]))
			}
		}
	}
}
