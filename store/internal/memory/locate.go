package memory

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Locate implements [earshot.Locator]. Its tables are the fields of Store, and it
// finds them by reflection, so that a new field is looked through as well.
func (s *Store) Locate(ctx context.Context, text string, looked func(what string, n int64)) iter.Seq2[earshot.Place, error] {
	return func(yield func(earshot.Place, error) bool) {
		var found []earshot.Place
		finder, err := rule.NewFinder(text)
		if err == nil {
			err = s.read(ctx, func() error {
				v := reflect.ValueOf(s).Elem()
				for i := range v.NumField() {
					l := locator{finder: finder, table: v.Type().Field(i).Name, seen: map[visitedPointer]bool{}}
					l.walk(v.Field(i), "", nil)
					found = append(found, l.found...)
					if looked != nil {
						looked(l.table, l.values)
					}
				}
				return nil
			})
		}
		if err != nil {
			yield(earshot.Place{}, err)
			return
		}
		slices.SortFunc(found, func(a, b earshot.Place) int {
			return strings.Compare(a.Table+"\x00"+a.Row+"\x00"+a.Column, b.Table+"\x00"+b.Row+"\x00"+b.Column)
		})
		for _, p := range slices.Compact(found) {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// A locator looks through one field of a Store.
type locator struct {
	finder rule.Finder
	table  string
	seen   map[visitedPointer]bool
	values int64
	found  []earshot.Place
}

// A visitedPointer is a pointer that was followed.
type visitedPointer struct {
	at  uintptr
	typ reflect.Type
}

// walk looks through v. column is the path of fields that leads to it, row are the
// keys of the maps on the way.
func (l *locator) walk(v reflect.Value, column string, row []string) {
	switch v.Kind() {
	case reflect.String:
		l.look([]byte(v.String()), column, row)
	case reflect.Pointer:
		at := visitedPointer{v.Pointer(), v.Type()}
		if v.IsNil() || l.seen[at] {
			return
		}
		l.seen[at] = true
		l.walk(v.Elem(), column, row)
	case reflect.Interface:
		if !v.IsNil() {
			l.walk(v.Elem(), column, row)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			l.walk(v.Field(i), strings.TrimPrefix(column+"."+v.Type().Field(i).Name, "."), row)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			at := append(row[:len(row):len(row)], key(entries.Key()))
			l.walk(entries.Key(), strings.TrimPrefix(column+".key", "."), at)
			l.walk(entries.Value(), column, at)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			l.look(v.Bytes(), column, row)
			return
		}
		for i := range v.Len() {
			l.walk(v.Index(i), column, row)
		}
	}
}

func (l *locator) look(b []byte, column string, row []string) {
	l.values++
	if l.finder.In(b) {
		l.found = append(l.found, earshot.Place{Table: l.table, Column: column, Row: strings.Join(row, " ")})
	}
}

// key returns a map's key as people read it: its texts and numbers, with / between.
func key(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			parts = append(parts, key(v.Field(i)))
		}
		return strings.Join(parts, "/")
	case reflect.String:
		return v.String()
	}
	return fmt.Sprint(v)
}
