// Classes by their name, from the type records that Swift images carry, and what context descriptors say.
//
// The layout is Swift's ABI (docs/ABI/TypeMetadata in its repository). What is of a kind not known here is passed over.

#include "CCoreDataRuntime.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uintptr_t start;
    size_t length;
};

/// What each image hands to the Swift runtime when it is loaded; longer in newer versions.
struct sections {
    uintptr_t version;
    const void *words[3];
    struct range protocols, conformances, types;
};

extern void swift_enumerateAllMetadataSections(bool (*body)(const struct sections *, void *), void *context)
    __attribute__((weak));

/// A place relative to the word that names it; null for 0.
static const void *relative(const int32_t *word) { return *word ? (const char *)word + *word : NULL; }

/// The same where the lowest bit says that the place holds the address.
static const void *relative_indirect(const int32_t *word) {
    if (!*word) return NULL;
    const char *place = (const char *)word + (*word & ~1);
    return *word & 1 ? *(const void *const *)place : place;
}

enum { MODULE = 0, EXTENSION = 1, ANONYMOUS = 2, CLASS = 16, LAST_TYPE = 31 };

static const int32_t *words(const void *descriptor) { return descriptor; }
static int kind(const void *descriptor) { return words(descriptor)[0] & 31; }
static bool is_generic(const void *descriptor) { return words(descriptor)[0] & 0x80; }
static const char *name_of(const void *descriptor) { return relative(words(descriptor) + 2); }

// What is known of the images: the descriptors of their classes. Grows only, as images with Swift code stay loaded.

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const void **classes;
static size_t class_count, class_capacity, images_read;

static bool count_image(const struct sections *sections, void *count) {
    (void)sections;
    ++*(size_t *)count;
    return true;
}

size_t coredata_images(void) {
    size_t count = 0;
    if (swift_enumerateAllMetadataSections) swift_enumerateAllMetadataSections(count_image, &count);
    return count;
}

static void keep(const void *descriptor) {
    if (class_count == class_capacity) {
        size_t capacity = class_capacity ? class_capacity * 2 : 1024;
        const void **larger = realloc(classes, capacity * sizeof *classes);
        if (!larger) return;
        classes = larger;
        class_capacity = capacity;
    }
    classes[class_count++] = descriptor;
}

static bool keep_classes(const struct sections *sections, void *unused) {
    (void)unused;
    if (sections->version == 0) return true;
    const int32_t *record = (const int32_t *)sections->types.start;
    for (const int32_t *end = record + sections->types.length / 4; record < end; record++) {
        // The two lowest bits: 0 for the descriptor itself, 1 for a place that holds its address.
        int way = *record & 3;
        if (!(*record & ~3) || way > 1) continue;
        const char *place = (const char *)record + (*record & ~3);
        const void *descriptor = way == 1 ? *(const void *const *)place : place;
        if (descriptor && kind(descriptor) == CLASS) keep(descriptor);
    }
    return true;
}

static void read_images(void) {
    size_t images = coredata_images();
    if (images == images_read) return;
    class_count = 0;
    if (swift_enumerateAllMetadataSections) swift_enumerateAllMetadataSections(keep_classes, NULL);
    images_read = images;
}

static bool is_among(const void *descriptor, const void **found, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (found[i] == descriptor) return true;
    return false;
}

size_t coredata_classes(const char *name, const void **found, size_t capacity) {
    size_t count = 0;
    pthread_mutex_lock(&lock);
    read_images();
    for (size_t i = 0; i < class_count && count < capacity; i++) {
        const char *other = name_of(classes[i]);
        if (other && strcmp(other, name) == 0 && !is_among(classes[i], found, count)) found[count++] = classes[i];
    }
    pthread_mutex_unlock(&lock);
    return count;
}

struct coredata_scope coredata_scope_at(const void *descriptor) {
    struct coredata_scope scope = {coredata_scope_other, NULL, NULL, is_generic(descriptor)};
    int found = kind(descriptor);
    if (found == MODULE) scope.kind = coredata_scope_module;
    if (found == EXTENSION) scope.kind = coredata_scope_extension;
    if (found == ANONYMOUS) scope.kind = coredata_scope_anonymous;
    if (found >= CLASS && found <= LAST_TYPE) scope.kind = coredata_scope_type;
    if (scope.kind == coredata_scope_module || scope.kind == coredata_scope_type) scope.name = name_of(descriptor);
    if (scope.kind != coredata_scope_other) scope.outer = relative_indirect(words(descriptor) + 1);
    return scope;
}

/// Metadata and how complete they are, as an accessor answers them.
struct response {
    void *metadata;
    size_t state;
};
typedef __attribute__((swiftcall)) struct response (*accessor)(size_t request);

void *coredata_metadata_of_class(const void *descriptor) {
    if (kind(descriptor) != CLASS || is_generic(descriptor)) return NULL;
    accessor function = (accessor)relative(words(descriptor) + 3);
    return function ? function(0).metadata : NULL;
}

const void *coredata_superclass(const void *descriptor) {
    if (kind(descriptor) != CLASS) return NULL;
    // The superclass as a mangled name, which begins with a reference to its descriptor: 1 for the place, 2 for one that holds it.
    const char *name = relative(words(descriptor) + 5);
    if (!name || (name[0] != 1 && name[0] != 2)) return NULL;
    int32_t offset;
    memcpy(&offset, name + 1, sizeof offset);
    const char *place = name + 1 + offset;
    const void *found = place;
    if (name[0] == 2) memcpy(&found, place, sizeof found);
    return found && kind(found) == CLASS ? found : NULL;
}
