// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// object is a part of a schema.
type object = map[string]any

// Schema returns the JSON Schema (draft 2020-12) of the objects that [Answer.JSON] writes.
func (d *Decl[T]) Schema() map[string]any {
	head := object{
		"command": constant(d.Command), "schema": constant(SchemaVersion), "answer": integer,
		"kind": constant("answer"),
		"of":   reference("basis"),
	}
	if d.Verdict != nil {
		head["verdict"], head["found"] = verdictSchema, text
	}
	for i := range d.Facts {
		if c := columnOf(&d.Facts[i]); c.Key != "" {
			head[c.Key] = c.schema()
		}
	}
	required := []string{"command", "schema", "answer", "kind", "of"}
	variants := []any{}
	for _, t := range d.tables() {
		if !t.stream {
			head[t.key] = object{"type": []string{"array", "null"}, "items": closed(rowSchema(&t, nil)),
				"description": t.help}
			required = append(required, t.key)
			continue
		}
		row := rowSchema(&t, object{
			"command": constant(d.Command), "answer": integer, "kind": constant(t.key), "subnet": text,
		})
		variants = append(variants, closed(row, "command", "answer", "kind"))
	}
	all := append([]any{closed(head, required...)}, variants...)
	if len(variants) > 0 {
		common := object{"command": constant(d.Command), "answer": integer}
		end := object{"kind": constant("end"), "rows": integer, "unread": reference("unread"), "verdict": verdictSchema,
			"found": text}
		failed := object{"kind": constant("error"), "cause": text}
		all = append(all, closed(merged(common, end), "command", "answer", "kind", "rows", "unread"),
			closed(merged(common, failed), "command", "answer", "kind", "cause"))
	}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": d.Command, "description": d.Help,
		"oneOf": all, "$defs": definitions(),
	}
}

func (d *Decl[T]) tables() []boundTable {
	var tables []boundTable
	for _, item := range d.Layout {
		if item.Table != nil {
			tables = append(tables, item.Table.declared())
		}
	}
	return tables
}

func rowSchema(t *boundTable, row object) object {
	if row == nil {
		row = object{}
	}
	for i := range t.columns {
		if c := &t.columns[i]; c.Key != "" {
			row[c.Key] = c.schema()
		}
	}
	return row
}

func merged(objects ...object) object {
	out := object{}
	for _, o := range objects {
		maps.Copy(out, o)
	}
	return out
}

func closed(properties object, required ...string) object {
	o := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func constant(v any) object { return object{"const": v} }

func reference(name string) object { return object{"$ref": "#/$defs/" + name} }

var (
	text          = object{"type": "string"}
	integer       = object{"type": "integer"}
	verdictSchema = object{"enum": []string{OK.String(), Found.String(), Unknown.String()}}
)

// schema returns the schema of a field. Any field may be null, which means that it was not read.
func (c *Column) schema() object {
	o := object{}
	switch c.Kind {
	case KindText, KindGUID:
		o["type"] = []string{"string", "null"}
	case KindInt, KindLID:
		o["type"] = []string{"integer", "null"}
	case KindFloat, KindDuration:
		o["type"] = []string{"number", "null"}
	case KindBool:
		o["type"] = []string{"boolean", "null"}
	case KindTime:
		o["type"], o["format"] = []string{"string", "null"}, "date-time"
	case KindTexts:
		o["type"], o["items"] = []string{"array", "null"}, text
	case KindMap:
		o["type"] = []string{"object", "null"}
	case KindList:
		o["type"] = []string{"array", "null"}
	case KindPlace:
		o["anyOf"] = []any{reference("place"), object{"type": "null"}}
	}
	if c.Help != "" {
		o["description"] = c.Help
	}
	if c.Unit != "" {
		o["x-unit"] = c.Unit
	}
	return o
}

func definitions() object {
	truth := object{"const": true}
	place := closed(object{"name": text, "guid": text, "lid": integer, "port": integer, "label": text}, "name", "guid")
	cause := closed(object{"what": text, "why": text, "at": object{"type": "array", "items": reference("place")},
		"count": integer},
		"what", "why", "at", "count")
	unread := closed(object{"count": integer, "causes": object{"type": "array", "items": cause}}, "count", "causes")
	basis := closed(object{
		"subnet": text, "state": text, "labels": text, "engine": text, "title": text, "source": text, "entry": integer,
		"as_of": object{"type": "string", "format": "date-time"}, "stale": truth, "estimate": truth, "written": truth,
		"warnings": object{"type": "array", "items": text}, "unread": reference("unread"),
	}, "warnings", "unread")
	return object{"place": place, "unread": unread, "basis": basis}
}

// reserved are the keys that heads, rows and ends of answers use. No field may have such a key.
var reserved = []string{"command", "schema", "answer", "kind", "of", "subnet", "verdict", "found"}

// Check returns the faults of a declaration: reserved or repeated keys, fields without a kind, and forms with unknown
// fields.
func (d *Decl[T]) Check() error {
	var faults []error
	facts := make([]Column, len(d.Facts))
	for i := range d.Facts {
		facts[i] = columnOf(&d.Facts[i])
	}
	faults = append(faults, checkColumns(d.Command, facts)...)
	faults = append(faults, checkForm(d.Title, facts, "of"))
	for _, item := range d.Layout {
		if item.Table == nil {
			faults = append(faults, checkForm(item.Line, facts, "of"), checkEach(d.Command, item.Each, facts))
		}
	}
	for _, t := range d.tables() {
		name := d.Command + ", table " + t.key
		faults = append(faults, checkColumns(name, t.columns)...)
		faults = append(faults, checkForm(t.form, t.columns))
		clash := slices.ContainsFunc(facts, func(c Column) bool { return c.Key == t.key })
		if t.key == "" || clash || slices.Contains(reserved, t.key) {
			faults = append(faults, fmt.Errorf("%s: the key %q is reserved, repeated or empty", name, t.key))
		}
		if t.live && (!t.stream || t.form == "") {
			faults = append(faults, fmt.Errorf("%s: a live table needs Stream and Row", name))
		}
	}
	return errors.Join(faults...)
}

// checkEach returns an error if the Each of an [Item] does not name a list.
func checkEach(name, list string, facts []Column) error {
	if list == "" || slices.ContainsFunc(facts, func(c Column) bool {
		return c.id() == list && (c.Kind == KindTexts || c.Kind == KindList)
	}) {
		return nil
	}
	return fmt.Errorf("%s: there is no list %q", name, list)
}

func checkColumns(name string, columns []Column) []error {
	var faults []error
	seen := map[string]bool{}
	for i := range columns {
		c := &columns[i]
		switch {
		case c.id() == "":
			faults = append(faults, fmt.Errorf("%s: field %d has neither key nor name", name, i))
		case seen[c.id()] || slices.Contains(reserved, c.Key):
			faults = append(faults, fmt.Errorf("%s: the key %q is reserved or repeated", name, c.id()))
		case c.Kind == KindNone:
			faults = append(faults, fmt.Errorf("%s: field %q has no kind", name, c.id()))
		}
		seen[c.id()] = true
	}
	return faults
}
