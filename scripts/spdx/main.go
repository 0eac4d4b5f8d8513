// SPDX-License-Identifier: Apache-2.0

// Spdx writes the components of a program as an SPDX 2.3 document: the modules in its build information, with their
// licences from the output of scripts/licences on standard input.
//
//	scripts/licences | go run ./scripts/spdx PROGRAM VERSION DATE
package main

import (
	"bufio"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: scripts/licences | spdx PROGRAM VERSION DATE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "spdx:", err)
		os.Exit(1)
	}
}

func run(program, version, date string, licences io.Reader, out io.Writer) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	of, err := readLicences(licences)
	if err != nil {
		return err
	}
	d, err := describe(info, version, date, of)
	if err != nil {
		return err
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// document is the document of the SPDX specification 2.3, clauses 6, 7 and 11.
type document struct {
	Version       string         `json:"spdxVersion"`
	DataLicence   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []pkg          `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	ID        string `json:"SPDXID"`
	Name      string `json:"name"`
	Version   string `json:"versionInfo"`
	Download  string `json:"downloadLocation"`
	Analyzed  bool   `json:"filesAnalyzed"`
	Concluded string `json:"licenseConcluded"`
	Declared  string `json:"licenseDeclared"`
	Copyright string `json:"copyrightText"`
	Refs      []ref  `json:"externalRefs,omitempty"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const (
	none = "NOASSERTION"
	self = "Apache-2.0"
)

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func describe(info *buildinfo.BuildInfo, version, date string, licences map[string]string) (*document, error) {
	name := "ibconsole-" + version
	for _, key := range []string{"GOOS", "GOARCH"} {
		if i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key }); i >= 0 {
			name = fmt.Sprintf("%s-%s", name, info.Settings[i].Value)
		}
	}
	d := &document{
		Version: "SPDX-2.3", DataLicence: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name, Namespace: "https://" +
			info.Main.Path + "/spdx/" + name,
		Creation: creation{date, []string{"Tool: " + info.Main.Path + "/scripts/spdx"}},
	}
	add := func(name, version, licence string, refs ...ref) string {
		id := "SPDXRef-" + notInID.ReplaceAllString(name, "-")
		d.Packages = append(d.Packages, pkg{id, name, version, none, false, licence, licence, none, refs})
		return id
	}
	root := add(info.Main.Path, version, self)
	d.Relationships = []relationship{{d.ID, "DESCRIBES", root}}
	goroot := add("go", info.GoVersion, "BSD-3-Clause")
	d.Relationships = append(d.Relationships, relationship{root, "CONTAINS", goroot})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		licence := licences[m.Path+" "+m.Version]
		if licence == "" {
			return nil, fmt.Errorf("%s %s: no licence was given", m.Path, m.Version)
		}
		id := add(m.Path, m.Version, licence, ref{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version})
		d.Relationships = append(d.Relationships, relationship{root, "CONTAINS", id})
	}
	return d, nil
}

// readLicences reads lines of scripts/licences: group, module, version, then FILE:LICENCE[,LICENCE]... A module with
// several licences is under all of them.
func readLicences(r io.Reader) (map[string]string, error) {
	of := map[string]string{}
	for s := bufio.NewScanner(r); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 4 {
			return nil, fmt.Errorf("%q, expected program|tests MODULE VERSION FILE:LICENCE [FILE:LICENCE ...]",
				s.Text())
		}
		var all []string
		for _, w := range words[3:] {
			_, list, _ := strings.Cut(w, ":")
			for l := range strings.SplitSeq(list, ",") {
				if l == "public-domain" {
					l = "LicenseRef-public-domain"
				}
				if !slices.Contains(all, l) {
					all = append(all, l)
				}
			}
		}
		of[words[1]+" "+words[2]] = strings.Join(all, " AND ")
	}
	if len(of) == 0 {
		return nil, errors.New("no licences on standard input")
	}
	return of, nil
}
