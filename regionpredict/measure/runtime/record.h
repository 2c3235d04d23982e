/* What a measured region's file is given: no preprocessor directives here, since these lines are
   put into preprocessed text. The places are constants; `counts` is filled at the first run. */
struct regionpredict_counts;
struct regionpredict_region {
    const char *file;
    const char *directive;
    const char *build;
    int line;
    int loop_line;
    int ordinal; /* among the regions of its line, from 1 */
    int flags; /* 1: combined with parallel, 2: nowait, 4: a whole parallel */
    struct regionpredict_counts *counts;
    long long known; /* the size of the team that was asked last, and what was asked for */
    const char *text; /* the digest of the loop's lines in its source */
    int lines; /* how many they are */
    int sizes; /* how many values are handed to `regionpredict_end` */
    const char *const *names; /* what these are called */
};
long long regionpredict_now(void);
long long regionpredict_enter(struct regionpredict_region *, long long);
long long regionpredict_enter_inside(struct regionpredict_region *, long long);
int regionpredict_known(struct regionpredict_region *, long long, int);
void regionpredict_keep(struct regionpredict_region *, long long, int, int);
int regionpredict_guess(void);
int regionpredict_recorder(void);
int regionpredict_readable(const volatile void *, unsigned long);
void regionpredict_end(struct regionpredict_region *, const char *, long long, int, long long,
                       const long long *);
